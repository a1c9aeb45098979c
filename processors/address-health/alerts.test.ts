import t from 'tap'
import type { AddressHealthEvent } from '../../schemas/address-health/journal-events.js'
import type { EffectRequest } from '../../topology/processor.js'
import type { AlertmanagerRequest } from './effects/alertmanager-request.js'
import { AddressHealthKit, PLATFORM, SECOND_MS } from './test-kit.js'

const REPEAT_MS = 60 * SECOND_MS

function started(alertmanager = true): AddressHealthKit {
  const kit = new AddressHealthKit({ alertmanager, alertmanagerRepeatMs: REPEAT_MS })
  kit.create(['a1', 'a2'])
  return kit
}

const answer =
  (posted: boolean) =>
  (request: EffectRequest): AddressHealthEvent => ({
    type: 'AlarmPosted',
    data: { alarm: request.target, posted, reason: 'as the test wants' },
  })

const wanted = (kit: AddressHealthKit): AlertmanagerRequest[] =>
  kit.owed(PLATFORM).map(({ payload }) => payload as AlertmanagerRequest)

t.test('without an Alertmanager nothing is owed', async (t) => {
  const kit = started(false)
  kit.fail('a1')
  kit.operate('repair')
  t.strictSame(kit.owed(PLATFORM), [])
  t.equal(kit.outputs.length, 2)
})

t.test('it is told of an alarm, again as long as it stands, and of its end once', async (t) => {
  const kit = started()
  kit.fail('a1')
  const startsAt = kit.time
  t.match(wanted(kit), [
    { alarm: 'voicemail/1', platform: PLATFORM, address: 'a1', startsAt, endsAt: startsAt + 4 * REPEAT_MS },
  ])
  kit.perform(answer(true))
  t.strictSame(wanted(kit), [])
  kit.advance(REPEAT_MS - 1)
  t.strictSame(wanted(kit), [])
  kit.advance(1)
  t.match(wanted(kit), [{ startsAt, endsAt: kit.time + 4 * REPEAT_MS }])
  kit.perform(answer(true))
  kit.operate('repair')
  t.match(wanted(kit), [{ alarm: 'voicemail/1', startsAt, endsAt: kit.time }])
  kit.perform(answer(true))
  kit.advance(10 * REPEAT_MS)
  t.strictSame(wanted(kit), [])
  t.strictSame(kit.deadlines(PLATFORM), [])
})

t.test('a post that fails is tried again after a while, raised or cleared', async (t) => {
  const kit = started()
  kit.fail('a1')
  kit.perform(answer(false))
  t.strictSame(wanted(kit), [])
  kit.advance(5 * SECOND_MS)
  t.equal(wanted(kit).length, 1)
  kit.operate('repair')
  kit.perform(answer(false))
  kit.advance(5 * SECOND_MS)
  t.match(wanted(kit), [{ endsAt: kit.time - 5 * SECOND_MS }])
  kit.perform(answer(true))
  t.equal(kit.count('alarm_posts', 'failed'), 2)
  t.equal(kit.count('alarm_posts', 'taken'), 1)
})

t.test('what is owed of a state that is over is withdrawn', async (t) => {
  const kit = started()
  kit.fail('a1')
  kit.operate('repair')
  t.match(wanted(kit), [{ alarm: 'voicemail/1', endsAt: kit.time }])
  kit.fail('a1')
  t.match(wanted(kit), [{ alarm: 'voicemail/1', startsAt: kit.time }])
  t.equal(kit.owed(PLATFORM).length, 1)
})

t.test("the platform's own alarm is told without an address", async (t) => {
  const kit = started()
  kit.operate('remove', 1)
  kit.fail('a1')
  t.match(wanted(kit), [{ address: 'a1' }, { alarm: PLATFORM, address: '' }])
})

t.test('an owner for whom it is switched off forgets what it was to be told', async (t) => {
  const kit = started()
  kit.fail('a1')
  kit.fail('a2')
  kit.perform(answer(true))
  kit.operate('remove', 1)
  kit.beginTerm({ ...kit.settings, alertmanager: false })
  t.strictSame(wanted(kit), [])
  t.strictSame(kit.deadlines(PLATFORM), [])
})

t.test('switched on later it is told of all alarms that stand, with the next term; the topic is not', async (t) => {
  const kit = started(false)
  kit.fail('a1')
  const first = kit.time
  kit.fail('a2')
  const second = kit.time
  const told = kit.outputs.length
  kit.advance(10 * SECOND_MS)
  kit.beginTerm({ ...kit.settings, alertmanager: true })
  t.match(wanted(kit), [
    { alarm: 'voicemail/1', address: 'a1', startsAt: first, endsAt: kit.time + 4 * REPEAT_MS, text: /^1 of 1 calls/ },
    { alarm: 'voicemail/2', address: 'a2', startsAt: second },
    { alarm: PLATFORM, address: '', startsAt: second },
  ])
  t.equal(kit.outputs.length, told)
  kit.perform(answer(true))
  kit.beginTerm()
  t.strictSame(wanted(kit), [], 'another term tells nothing twice')
  kit.advance(REPEAT_MS)
  t.equal(wanted(kit).length, 3, 'and all are told again in their time')
  kit.operate('repair')
  const ends = wanted(kit).filter(({ endsAt }) => endsAt === kit.time)
  t.match(ends, [{ alarm: 'voicemail/1' }, { alarm: PLATFORM }], 'and the end of those that end')
})
