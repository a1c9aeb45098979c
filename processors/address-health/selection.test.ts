import t from 'tap'
import type { SelectionMode } from '../../schemas/address-health/journal-events.js'
import { AddressHealthKit, PLATFORM, SECOND_MS } from './test-kit.js'

const RETRY_MS = 30 * SECOND_MS

function started(selectionMode: SelectionMode, random?: () => number, panicMode = false): AddressHealthKit {
  const kit = new AddressHealthKit({}, {}, random)
  kit.create(['a1', 'a2', 'a3'], { selectionMode, panicMode })
  return kit
}

async function addresses(kit: AddressHealthKit, calls: number): Promise<(string | null)[]> {
  const chosen: (string | null)[] = []
  for (let call = 0; call < calls; call++) chosen.push((await kit.select()).address)
  return chosen
}

t.test('row 21 ACTIVE_STANDBY gives the lowest position that is ACTIVE, a repaired primary at once', async (t) => {
  const kit = started('ACTIVE_STANDBY')
  t.strictSame(await kit.select(), { address: 'a1', fallback: 'a2' })
  kit.fail('a1')
  t.strictSame(await kit.select(), { address: 'a2', fallback: 'a3' })
  kit.operate('repair', 0)
  t.strictSame(await kit.select(), { address: 'a1', fallback: 'a2' })
})

t.test('row 22 ROUND_ROBIN goes round in the order of positions, past those that are not ACTIVE', async (t) => {
  const kit = started('ROUND_ROBIN')
  t.strictSame(await addresses(kit, 4), ['a1', 'a2', 'a3', 'a1'])
  kit.operate('deactivate', 1)
  t.strictSame(await addresses(kit, 3), ['a3', 'a1', 'a3'])
  kit.operate('activate', 1)
  t.strictSame(await addresses(kit, 3), ['a1', 'a2', 'a3'])
  t.strictSame(await kit.select(), { address: 'a1', fallback: 'a2' })
})

t.test('row 22 LOAD_SHARE draws evenly, and the fallback is another one', async (t) => {
  let seed = 1
  const random = (): number => (seed = (seed * 16807) % 2147483647) / 2147483647
  const kit = started('LOAD_SHARE', random)
  const counts = new Map<string, number>()
  for (let call = 0; call < 3000; call++) {
    const { address, fallback } = await kit.select()
    const pair = `${address} ${fallback}`
    counts.set(pair, (counts.get(pair) ?? 0) + 1)
  }
  t.strictSame([...counts.keys()].sort(), ['a1 a2', 'a1 a3', 'a2 a1', 'a2 a3', 'a3 a1', 'a3 a2'])
  for (const [pair, count] of counts) t.ok(Math.abs(count - 500) < 80, `${pair} ${count}`)
})

t.test('row 22 INTERCEPTOR_SERVICE: the caller picks among all that are ACTIVE', async (t) => {
  const kit = started('INTERCEPTOR_SERVICE')
  kit.fail('a2')
  kit.advance(RETRY_MS)
  const selection = await kit.query(kit.queries.selection, PLATFORM, { platform: PLATFORM })
  t.match(selection, {
    all: [
      { address: 'a1', position: 0 },
      { address: 'a3', position: 2 },
    ],
    choice: null,
    retry: null,
  })
})

t.test('row 20 T10 all addresses FAILED: none, but retries when due', async (t) => {
  const kit = started('ACTIVE_STANDBY')
  for (const address of ['a1', 'a2', 'a3']) kit.outcome(address, 'failure')
  kit.advance(5 * SECOND_MS)
  t.strictSame(await kit.select(), { address: null })
  kit.advance(RETRY_MS)
  t.match(await kit.select(), { address: 'a1', attemptId: String, fallback: undefined })
  t.match(await kit.select(), { address: 'a2', attemptId: String })
  t.match(await kit.select(), { address: 'a3', attemptId: String })
  t.strictSame(await kit.select(), { address: null })
})

t.test('row 20 in panic mode the FAILED ones are chosen among, their calls being no retries', async (t) => {
  const kit = started('ROUND_ROBIN', undefined, true)
  for (const address of ['a1', 'a2', 'a3']) kit.outcome(address, 'failure')
  kit.advance(5 * SECOND_MS)
  t.strictSame(await addresses(kit, 4), ['a1', 'a2', 'a3', 'a1'])
  kit.outcome('a1', 'success')
  t.equal(kit.count('uncounted_outcomes', 'failed'), 1)
  kit.advance(RETRY_MS)
  t.match(await kit.select(), { address: 'a1', attemptId: String, fallback: 'a2' })
})

t.test('row 20 the same with one address only, and with none', async (t) => {
  const kit = new AddressHealthKit()
  kit.create(['a1'])
  t.strictSame(await kit.select(), { address: 'a1' })
  kit.fail('a1')
  t.strictSame(await kit.select(), { address: null })
  kit.operate('remove', 0)
  t.strictSame(await kit.select(), { address: null })
})

t.test('a retry that was offered is not offered to others for a second, unless its time is another', async (t) => {
  const kit = started('ACTIVE_STANDBY')
  kit.fail('a1')
  kit.advance(RETRY_MS)
  const ask = async () => {
    const selection = await kit.query(kit.queries.selection, PLATFORM, { platform: PLATFORM })
    return selection.found && selection.retry?.addressId
  }
  t.equal(await ask(), 1)
  t.notOk(await ask())
  kit.advance(999)
  t.notOk(await ask())
  kit.advance(1)
  t.equal(await ask(), 1, 'nothing came of it')
})

t.test('a selection tells when the next retry is due, and whether the platform is known', async (t) => {
  const kit = started('ACTIVE_STANDBY')
  const ask = (platform: string) => kit.query(kit.queries.selection, PLATFORM, { platform })
  t.match(await ask(PLATFORM), { found: true, nextRetryMs: null })
  kit.fail('a1')
  kit.advance(10 * SECOND_MS)
  t.match(await ask(PLATFORM), { found: true, nextRetryMs: 20 * SECOND_MS })
  t.strictSame(await ask('other'), { found: false })
})
