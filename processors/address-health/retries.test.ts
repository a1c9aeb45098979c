import t from 'tap'
import { gauges } from './gauges.js'
import { AddressHealthKit, PLATFORM, SECOND_MS } from './test-kit.js'

const INTERVAL_MS = 5 * SECOND_MS
const RETRY_MS = 30 * SECOND_MS

/** A kit with two addresses, of which the first has failed at this moment. */
function failed(parameters: Parameters<AddressHealthKit['create']>[1] = {}): AddressHealthKit {
  const kit = new AddressHealthKit()
  kit.create(['a1', 'a2'], parameters)
  kit.fail('a1')
  kit.alarms()
  return kit
}

/** Waits until a retry is due, makes the next call it, and reports its outcome. */
async function retry(
  kit: AddressHealthKit,
  result: 'success' | 'failure' | 'ignored',
  waitMs = RETRY_MS,
): Promise<void> {
  kit.advance(waitMs)
  const { address, attemptId } = await kit.select()
  if (address !== 'a1' || attemptId === undefined) throw new Error(`${address} is no retry`)
  kit.outcome('a1', result, { attemptId })
}

const gauged = (kit: AddressHealthKit): Promise<readonly number[]> =>
  kit.query(
    {
      name: 'gauges',
      run: (reader) => Promise.resolve([gauges.failed_addresses(reader), gauges.retry_due_seconds(reader)]),
    },
    PLATFORM,
    null,
  )

t.test('T5 three good retries repair the address, and clear the alarm', async (t) => {
  const kit = failed()
  await retry(kit, 'success')
  await retry(kit, 'success')
  t.match((await kit.platform()).addresses[0], {
    state: 'FAILED',
    retry: { successes: 2, nextAt: kit.time + RETRY_MS },
  })
  t.strictSame(kit.alarms(), [])
  await retry(kit, 'success')
  t.equal(kit.state('a1'), 'ACTIVE')
  t.strictSame(kit.alarms(), ['cleared voicemail/1 REPAIRED 1/1'])
})

t.test('T6 HS-10 row 18 a failed retry begins the count anew: good, good, bad, good, good, good', async (t) => {
  const kit = failed()
  for (const result of ['success', 'success', 'failure', 'success', 'success'] as const) {
    await retry(kit, result)
    t.equal(kit.state('a1'), 'FAILED')
  }
  await retry(kit, 'success')
  t.equal(kit.state('a1'), 'ACTIVE')
  t.strictSame(kit.alarms(), ['cleared voicemail/1 REPAIRED 1/1'])
})

t.test('HS-10 exactly one trial in 30 s goes to the failed address, all other calls elsewhere', async (t) => {
  const kit = failed()
  const trials: number[] = []
  const results = ['success', 'success', 'failure', 'success', 'success', 'success'] as const
  const begun = kit.time
  for (let call = 0; call < 6 * 50; call++) {
    kit.advance(RETRY_MS / 50)
    const { address, attemptId } = await kit.select()
    if (attemptId === undefined) {
      t.equal(address, 'a2')
      continue
    }
    t.equal(address, 'a1')
    kit.outcome('a1', results[trials.length] ?? 'failure', { attemptId })
    trials.push(kit.time - begun)
    t.equal(kit.state('a1'), trials.length < 6 ? 'FAILED' : 'ACTIVE')
  }
  t.strictSame(
    trials,
    [1, 2, 3, 4, 5, 6].map((n) => n * RETRY_MS),
  )
  t.strictSame(kit.alarms(), ['cleared voicemail/1 REPAIRED 1/1'])
})

t.test('T7 HS-12 retryInterval 0: no retry ever, a manual repair clears the alarm', async (t) => {
  const kit = failed({ retryInterval: 0 })
  for (let call = 0; call < 600; call++) {
    kit.advance(SECOND_MS)
    t.strictSame(await kit.select(), { address: 'a2' })
  }
  t.match((await kit.platform()).addresses[0], { state: 'FAILED', retry: { nextAt: null } })
  t.strictSame(kit.deadlines(PLATFORM), [])
  t.match(kit.operate('repair'), { ok: true })
  t.equal(kit.state('a1'), 'ACTIVE')
  t.strictSame(kit.alarms(), ['cleared voicemail/1 MANUAL_REPAIR 1/1'])
})

t.test('T8 with retryAttempts 1 one success repairs', async (t) => {
  const kit = failed({ retryAttempts: 1 })
  await retry(kit, 'success')
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('T9 row 17 the other address gets all calls but the retries, and is their fallback', async (t) => {
  const kit = failed()
  t.strictSame(await kit.select(), { address: 'a2' })
  kit.advance(RETRY_MS)
  t.match(await kit.select(), { address: 'a1', attemptId: String, fallback: 'a2' })
  t.strictSame(await kit.select(), { address: 'a2' })
})

t.test('T12 row 12 the outcome of a call that was under way is no retry', async (t) => {
  const kit = failed({ retryAttempts: 1 })
  kit.outcome('a1', 'success')
  kit.outcome('a1', 'failure')
  kit.advance(RETRY_MS)
  const { attemptId } = await kit.select()
  kit.outcome('a1', 'success')
  kit.outcome('a1', 'success', { attemptId: `${attemptId}x` })
  t.equal(kit.state('a1'), 'FAILED')
  t.equal(kit.count('uncounted_outcomes', 'failed'), 3)
  t.equal(kit.count('uncounted_outcomes', 'attempt'), 1)
  kit.outcome('a1', 'success', { attemptId: attemptId ?? '' })
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('row 13 the next retry needs the outcome of the last, and retryInterval since its start', async (t) => {
  const kit = failed()
  kit.advance(RETRY_MS)
  const first = await kit.select()
  kit.advance(20 * SECOND_MS)
  t.strictSame(await kit.select(), { address: 'a2' }, 'one is under way')
  kit.outcome('a1', 'success', { attemptId: first.attemptId ?? '' })
  kit.advance(10 * SECOND_MS - 1)
  t.strictSame(await kit.select(), { address: 'a2' }, 'not yet 30 s')
  kit.advance(1)
  t.match(await kit.select(), { address: 'a1', attemptId: String })
})

t.test('row 13 of two that ask for one retry one is refused', async (t) => {
  const kit = failed()
  kit.advance(RETRY_MS)
  const ask = (): unknown =>
    kit.when(PLATFORM, { type: 'RetryRequested', data: { platform: PLATFORM, addressId: 1, callId: 'c' } })
  t.match(ask(), { granted: true, attemptId: String })
  t.strictSame(ask(), { granted: false })
  kit.advance(RETRY_MS - 1)
  t.strictSame(ask(), { granted: false })
  t.equal(kit.count('retries', 'granted'), 1)
  t.equal(kit.count('retries', 'denied'), 2)
})

t.test(
  'row 14 a retry without outcome counts as failed when retryInterval is over, and a later one for nothing',
  async (t) => {
    const kit = failed()
    await retry(kit, 'success')
    await retry(kit, 'success')
    kit.advance(RETRY_MS)
    const { attemptId } = await kit.select()
    kit.advance(RETRY_MS - 1)
    t.match((await kit.platform()).addresses[0], { retry: { successes: 2 } })
    kit.advance(1)
    t.match((await kit.platform()).addresses[0], { retry: { successes: 0, nextAt: kit.time } })
    t.equal(kit.count('retries', 'expired'), 1)
    kit.outcome('a1', 'success', { attemptId: attemptId ?? '' })
    t.match((await kit.platform()).addresses[0], { retry: { successes: 0 } })
    t.match(await kit.select(), { address: 'a1' }, 'the next is due at once')
  },
)

t.test('row 14 an outcome at the end that stands before the tick comes too late', async (t) => {
  const kit = failed({ retryAttempts: 1 })
  kit.advance(RETRY_MS)
  const { attemptId = '' } = await kit.select()
  kit.time += RETRY_MS
  const named = { platform: PLATFORM, address: 'a1', result: 'success', callId: 'c', eventId: 'e', attemptId } as const
  const data = { ...named, cause: '', eventTime: null, eventTimeSource: 'ABSENT', producer: 'sis' } as const
  kit.append(PLATFORM, { type: 'CallOutcomeReported', data })
  t.equal(kit.state('a1'), 'FAILED')
  t.equal(kit.count('retries', 'expired'), 1)
  t.equal(kit.count('uncounted_outcomes', 'attempt'), 1)
})

t.test('row 15 the first retry is retryInterval after the address has failed', async (t) => {
  const kit = failed()
  kit.advance(RETRY_MS - 1)
  t.strictSame(await kit.select(), { address: 'a2' })
  kit.advance(1)
  t.match(await kit.select(), { address: 'a1' })
})

t.test('row 16 without calls nothing is tried, and no timer runs', async (t) => {
  const kit = failed()
  const since = kit.time
  kit.advance(24 * 3_600_000)
  t.strictSame(kit.deadlines(PLATFORM), [])
  t.match((await kit.platform()).addresses[0], { state: 'FAILED', retry: { nextAt: since + RETRY_MS } }, 'due since')
  const [failedAddresses, dueSeconds] = await gauged(kit)
  t.equal(failedAddresses, 1)
  t.equal(dueSeconds, (kit.time - since - RETRY_MS) / 1000, 'a metric tells it')
  t.match(await kit.select(), { address: 'a1' })
  t.strictSame(await gauged(kit), [1, 0])
})

t.test('row 18 an ignored retry neither counts nor begins the count anew', async (t) => {
  const kit = failed()
  await retry(kit, 'success')
  await retry(kit, 'ignored')
  t.match((await kit.platform()).addresses[0], { retry: { successes: 1 } })
  await retry(kit, 'success')
  await retry(kit, 'success')
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('row 18 an ignored retry repairs nothing, though fewer successes are asked for by then', async (t) => {
  const kit = failed()
  await retry(kit, 'success')
  kit.update({ retryAttempts: 1 })
  await retry(kit, 'ignored')
  t.equal(kit.state('a1'), 'FAILED')
  await retry(kit, 'success')
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test('row 19 counts begin anew after a repair', async (t) => {
  const kit = failed({ retryAttempts: 1 })
  await retry(kit, 'success')
  t.match((await kit.platform()).addresses[0], { since: kit.time, window: { calls: 0, failed: 0 } })
  kit.calls('a1', 3, 1)
  kit.advance(INTERVAL_MS)
  t.equal(kit.state('a1'), 'ACTIVE')
})

t.test(
  'row 23 T11 deactivating a FAILED address clears its alarm; activating makes it ACTIVE with no counts',
  async (t) => {
    const kit = failed()
    t.match(kit.operate('deactivate'), { ok: true, platform: { addresses: [{ state: 'INACTIVE' }, {}] } })
    t.strictSame(kit.alarms(), ['cleared voicemail/1 DEACTIVATED 1/1'])
    t.strictSame(await kit.select(), { address: 'a2' })
    kit.advance(10 * RETRY_MS)
    t.strictSame(await kit.select(), { address: 'a2' })
    t.match(kit.operate('activate'), {
      ok: true,
      platform: { addresses: [{ state: 'ACTIVE', window: { calls: 0 } }, {}] },
    })
    t.strictSame(await kit.select(), { address: 'a1', fallback: 'a2' })
    t.strictSame(kit.alarms(), [])
  },
)

t.test('row 23 what was counted before a deactivation counts no more', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1'])
  kit.calls('a1', 4, 4)
  kit.operate('deactivate')
  kit.operate('activate')
  kit.advance(10 * INTERVAL_MS)
  t.equal(kit.state('a1'), 'ACTIVE')
  t.strictSame(kit.deadlines(PLATFORM), [])
})

t.test('row 24 the outcome of a retry of an address that was deactivated counts for nothing', async (t) => {
  const kit = failed({ retryAttempts: 1 })
  kit.advance(RETRY_MS)
  const { attemptId = '' } = await kit.select()
  kit.operate('deactivate')
  t.strictSame(kit.deadlines(PLATFORM), [])
  kit.outcome('a1', 'success', { attemptId })
  t.equal(kit.state('a1'), 'INACTIVE')
  kit.operate('activate')
  kit.outcome('a1', 'failure', { attemptId })
  t.match((await kit.platform()).addresses[0], { window: { calls: 0 } })
})

t.test('row 30 flapping: each move is counted, and the alarm tells how often', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1'], { retryAttempts: 1 })
  for (let time = 1; time <= 3; time++) {
    kit.fail('a1')
    const raised = kit.outputs.find(({ key }) => key === 'voicemail/1')
    t.match(JSON.parse(String(raised?.value)), { text: `1 of 1 calls failed in an interval; raised ${time} time` })
    kit.alarms()
    await retry(kit, 'success')
    kit.alarms()
  }
  t.equal(kit.count('address_moves', 'THRESHOLD'), 3)
  t.equal(kit.count('address_moves', 'REPAIRED'), 3)
})

t.test('another retryInterval counts at once, but for the retry under way', async (t) => {
  const kit = failed()
  kit.update({ retryInterval: 10 * SECOND_MS })
  kit.advance(10 * SECOND_MS)
  t.match(await kit.select(), { address: 'a1' })
  kit.update({ retryInterval: SECOND_MS })
  kit.advance(10 * SECOND_MS - 1)
  t.strictSame(await kit.select(), { address: 'a2' })
  kit.advance(1)
  t.equal(kit.count('retries', 'expired'), 1)
  t.match(await kit.select(), { address: 'a1' })
})

t.test('T14 a replay makes the same rows, moves and alarms, byte for byte', async (t) => {
  const kit = failed({ retryAttempts: 2 })
  await retry(kit, 'success')
  await retry(kit, 'failure')
  kit.fail('a2')
  await retry(kit, 'success')
  await retry(kit, 'success', RETRY_MS + 1)
  kit.add('a3')
  kit.calls('a3', 5, 3)
  const replayed = kit.replayed()
  t.equal(replayed.digest(), kit.digest())
  t.strictSame(replayed.outputs.slice(1), kit.outputs)
  t.strictSame(replayed.counts, kit.counts)
})
