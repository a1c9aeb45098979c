import t from 'tap'
import { AddressHealthKit, PLATFORM, SECOND_MS } from './test-kit.js'

const INTERVAL_MS = 5 * SECOND_MS

/** A kit with the platform and two addresses. */
function started(parameters: Parameters<AddressHealthKit['create']>[1] = {}, settings = {}): AddressHealthKit {
  const kit = new AddressHealthKit(settings)
  kit.create(['a1', 'a2'], parameters)
  return kit
}

const judged: readonly (readonly [name: string, calls: number, failed: number, state: string, parameters?: object])[] =
  [
    ['T1 two of four calls failed: FAILED at the end of the window', 4, 2, 'FAILED'],
    ['T2 one of four calls failed: ACTIVE', 4, 1, 'ACTIVE'],
    ['T3 no calls: ACTIVE', 0, 0, 'ACTIVE'],
    ['HS-09 an interval without calls: ACTIVE', 0, 0, 'ACTIVE'],
    ['HS-09 one of one: FAILED', 1, 1, 'FAILED'],
    ['HS-09 five of ten, exactly the threshold: FAILED', 10, 5, 'FAILED'],
    ['HS-09 four of ten: ACTIVE', 10, 4, 'ACTIVE'],
    ['row 1 the proportion that reaches the threshold fails the address', 2, 1, 'FAILED'],
    ['row 2 without calls there is no judgement, with threshold 0 neither', 0, 0, 'ACTIVE', { detectThreshold: 0 }],
    ['row 3 threshold 0 is any failure', 100, 1, 'FAILED', { detectThreshold: 0 }],
    ['row 3 threshold 0 is not no failure', 100, 0, 'ACTIVE', { detectThreshold: 0 }],
    ['row 4 threshold 1 is all calls failed', 3, 3, 'FAILED', { detectThreshold: 1 }],
    ['row 4 threshold 1 is not all but one', 100, 99, 'ACTIVE', { detectThreshold: 1 }],
    ['row 5 fewer than minCalls are not judged', 4, 4, 'ACTIVE', { minCalls: 5 }],
    ['row 5 minCalls are judged', 5, 5, 'FAILED', { minCalls: 5 }],
    ['row 5 one failed call alone fails the address by default', 1, 1, 'FAILED'],
  ]

for (const [name, calls, failed, state, parameters] of judged) {
  t.test(name, async (t) => {
    const kit = started(parameters)
    kit.calls('a1', calls, failed)
    kit.advance(INTERVAL_MS - 1)
    t.equal(kit.state('a1'), 'ACTIVE', 'not before the end')
    kit.advance(1)
    t.equal(kit.state('a1'), state)
    t.equal(kit.state('a2'), 'ACTIVE')
    t.strictSame(kit.alarms(), state === 'FAILED' ? [`raised voicemail/1 THRESHOLD ${failed}/${calls}`] : [])
    kit.advance(60 * SECOND_MS)
    t.strictSame(kit.alarms(), [], 'nothing more comes of it')
  })
}

t.test('T4 HS-12 with detectInterval 0 an hour of failures leaves it ACTIVE, without a timer', async (t) => {
  const kit = started({ detectInterval: 0 })
  for (let minute = 0; minute < 60; minute++) {
    kit.calls('a1', 20, 20)
    t.strictSame(kit.deadlines(PLATFORM), [])
    kit.advance(60 * SECOND_MS)
  }
  t.equal(kit.state('a1'), 'ACTIVE')
  t.strictSame(kit.alarms(), [])
  t.equal(kit.count('uncounted_outcomes', 'undetected'), 1200)
})

t.test('row 6 windows do not slide: failures on both sides of an end are judged apart', async (t) => {
  const kit = started()
  kit.advance(INTERVAL_MS - 1)
  kit.calls('a1', 3, 1)
  kit.advance(1)
  kit.calls('a1', 3, 1)
  kit.advance(INTERVAL_MS)
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('row 6 the phase of the windows is the moment at which the address became ACTIVE', async (t) => {
  const kit = started()
  kit.advance(1234)
  kit.operate('deactivate')
  kit.advance(1111)
  kit.operate('activate')
  kit.outcome('a1', 'failure')
  kit.advance(INTERVAL_MS - 1)
  t.equal(kit.state('a1'), 'ACTIVE')
  kit.advance(1)
  t.equal(kit.state('a1'), 'FAILED')
})

t.test('row 7 a window is closed by the first outcome at its end where that stands before the tick', async (t) => {
  const kit = started()
  kit.outcome('a1', 'failure')
  kit.time += INTERVAL_MS
  // Appended, not delivered: no deadline has fired.
  const event = { platform: PLATFORM, address: 'a1', result: 'success', callId: 'late', eventId: 'late' } as const
  const rest = { cause: '', attemptId: '', eventTime: null, eventTimeSource: 'ABSENT', producer: 'sis' } as const
  kit.append(PLATFORM, { type: 'CallOutcomeReported', data: { ...event, ...rest } })
  t.equal(kit.state('a1'), 'FAILED')
  t.equal(kit.count('uncounted_outcomes', 'failed'), 1, 'and counts for nothing itself')
  kit.advance(0)
  t.strictSame(kit.alarms(), ['raised voicemail/1 THRESHOLD 1/1'])
})

t.test('row 7 TS-01 TS-02 the time of an outcome moves no window', async (t) => {
  const kit = started()
  const dated = (eventTime: number | null, eventTimeSource: 'CE_TIME' | 'MALFORMED' | 'ABSENT'): void =>
    kit.outcome('a1', 'success', { eventTime, eventTimeSource })
  dated(kit.time + 366 * 24 * 3_600_000, 'CE_TIME')
  dated(kit.time - 60_000, 'CE_TIME')
  dated(null, 'MALFORMED')
  dated(null, 'ABSENT')
  for (let call = 0; call < 10; call++) kit.outcome('a1', 'failure', { eventTime: kit.time })
  kit.advance(INTERVAL_MS)
  t.strictSame(kit.alarms(), ['raised voicemail/1 THRESHOLD 10/14'])
  t.equal(kit.count('replaced_outcome_times', 'future'), 1)
  t.equal(kit.count('replaced_outcome_times', 'malformed'), 1)
  t.equal(kit.count('late_outcomes'), 1)
})

t.test('row 8 a long call counts where its outcome is known', async (t) => {
  const kit = started()
  const eventTime = kit.time
  kit.advance(3 * INTERVAL_MS)
  kit.outcome('a1', 'failure', { eventTime, eventTimeSource: 'CE_TIME' })
  t.match((await kit.platform()).addresses[0], { window: { calls: 1, failed: 1 } })
  kit.advance(INTERVAL_MS)
  t.equal(kit.state('a1'), 'FAILED')
})

t.test('row 9 an ignored outcome counts neither way', async (t) => {
  const kit = started()
  kit.calls('a1', 3, 1)
  for (let call = 0; call < 10; call++) kit.outcome('a1', 'ignored')
  t.match((await kit.platform()).addresses[0], { window: { calls: 3, failed: 1 } })
  kit.advance(INTERVAL_MS)
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('row 10 detection that is switched on begins without counts', async (t) => {
  const kit = started({ detectInterval: 0 })
  kit.calls('a1', 10, 10)
  kit.update({ detectInterval: INTERVAL_MS })
  kit.calls('a1', 3, 1)
  kit.advance(INTERVAL_MS)
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('row 11 T13 a change of detectInterval ends the window without judging it', async (t) => {
  const kit = started()
  kit.calls('a1', 4, 4)
  kit.advance(2 * SECOND_MS)
  kit.update({ detectInterval: 10 * SECOND_MS })
  t.match((await kit.platform()).addresses[0], { window: { calls: 0, failed: 0 } })
  kit.advance(10 * SECOND_MS)
  t.equal(kit.state('a1'), 'ACTIVE')
  kit.outcome('a1', 'failure')
  kit.advance(10 * SECOND_MS - 1)
  t.equal(kit.state('a1'), 'ACTIVE')
  kit.advance(1)
  t.equal(kit.state('a1'), 'FAILED')
})

t.test('T13 other parameters count for the window that runs', async (t) => {
  const kit = started()
  kit.calls('a1', 4, 1)
  kit.update({ detectThreshold: 0.25 })
  kit.advance(INTERVAL_MS)
  t.equal(kit.state('a1'), 'FAILED')
})

t.test('a window that was judged is not judged again when the threshold falls', async (t) => {
  const kit = started()
  kit.calls('a1', 4, 1)
  kit.advance(INTERVAL_MS)
  kit.update({ detectThreshold: 0.1 })
  kit.outcome('a1', 'success')
  kit.advance(2 * INTERVAL_MS)
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('row 27 an outcome of nothing known is a dead letter, of an INACTIVE address nothing', async (t) => {
  const kit = started()
  kit.outcome('a1', 'failure', { platform: 'other' })
  kit.outcome('a3', 'failure')
  t.match(kit.deadLetters, [{ code: 'UNKNOWN_PLATFORM' }, { code: 'UNKNOWN_ADDRESS' }])
  kit.operate('deactivate')
  kit.outcome('a1', 'failure')
  kit.advance(INTERVAL_MS)
  t.equal(kit.state('a1'), 'INACTIVE')
  t.equal(kit.count('uncounted_outcomes', 'inactive'), 1)
  t.strictSame(kit.alarms(), [])
})

t.test('row 28 OR-02 a repeated outcome counts once, by its event or by its call', async (t) => {
  const kit = started()
  kit.calls('a1', 10, 0)
  for (let call = 0; call < 9; call++) kit.outcome('a1', 'failure')
  kit.outcome('a1', 'failure', { callId: 'same call', eventId: 'event' })
  kit.outcome('a1', 'failure', { callId: 'same call', eventId: 'another event' })
  kit.outcome('a1', 'failure', { callId: 'another call', eventId: 'event' })
  kit.outcome('a1', 'failure', { callId: 'another call', eventId: 'event', producer: 'another producer' })
  t.match((await kit.platform()).addresses[0], { window: { calls: 21, failed: 11 } })
  t.equal(kit.count('uncounted_outcomes', 'repeated'), 2)
  kit.outcome('a2', 'failure', { callId: 'same call', eventId: 'event' })
  t.match((await kit.platform()).addresses[1], { window: { calls: 1, failed: 1 } }, 'each address for itself')
})

t.test('row 28 a repeat is known in the window after, and not in the one after that', async (t) => {
  const kit = started()
  const again = { callId: 'c', eventId: 'e' }
  kit.outcome('a1', 'success', again)
  kit.advance(INTERVAL_MS)
  kit.outcome('a1', 'success', again)
  t.match((await kit.platform()).addresses[0], { window: { calls: 0 } })
  kit.outcome('a1', 'success')
  kit.advance(INTERVAL_MS)
  kit.outcome('a1', 'success', again)
  t.match((await kit.platform()).addresses[0], { window: { calls: 1 } })
})

t.test('row 28 a repeat after the address has failed and was repaired at once is known', async (t) => {
  const kit = started()
  kit.outcome('a1', 'failure', { callId: 'c', eventId: 'e' })
  kit.advance(INTERVAL_MS)
  kit.operate('repair')
  kit.outcome('a1', 'failure', { callId: 'c', eventId: 'e' })
  kit.advance(INTERVAL_MS)
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('row 28 beyond the limit outcomes are counted unchecked', async (t) => {
  const kit = started({}, { outcomeIdLimit: 3 })
  for (let call = 0; call < 3; call++) kit.outcome('a1', 'success', { callId: `c${call}` })
  kit.outcome('a1', 'success', { callId: 'c0' })
  kit.outcome('a1', 'failure', { callId: 'c9' })
  kit.outcome('a1', 'failure', { callId: 'c9' })
  t.match((await kit.platform()).addresses[0], { window: { calls: 6, failed: 2 } })
  t.equal(kit.count('unchecked_outcomes'), 3)
  kit.calls('a1', 4, 4)
  kit.advance(INTERVAL_MS)
  t.strictSame(kit.alarms(), ['raised voicemail/1 THRESHOLD 6/10'], 'the first failure beyond the limit armed the end')
  kit.operate('repair')
  kit.calls('a1', 2, 0)
  t.match((await kit.platform()).addresses[0], { window: { calls: 2, failed: 0 } })
})

t.test('row 29 outcomes from many nodes make one verdict', async (t) => {
  const kit = started()
  for (let node = 0; node < 10; node++) kit.outcome('a1', node < 5 ? 'failure' : 'success', { producer: `sis-${node}` })
  kit.advance(INTERVAL_MS)
  t.strictSame(kit.alarms(), ['raised voicemail/1 THRESHOLD 5/10'])
})

t.test('a window without failures needs no timer at all', async (t) => {
  const kit = started()
  kit.calls('a1', 100, 0)
  t.strictSame(kit.deadlines(PLATFORM), [])
  kit.outcome('a1', 'failure')
  kit.outcome('a1', 'failure')
  t.equal(kit.deadlines(PLATFORM).length, 1)
})
