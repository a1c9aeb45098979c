import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { countingProcessor, countQuery } from '../counting-processor.js'
import { TopologyTestDriver } from '../test-driver.js'
import { inputRecord } from './counting-run.js'
import { filesFor, fill, flip, isFolded, isReady, tablesOf, until } from './store-files.js'

const KEYS = 2000
const HOUR_MS = 3_600_000
const key = (i: number): string => `device-${i}-${'x'.repeat(100)}`

/** A topology that has counted each key once, its store in files. */
async function counted(t: Test) {
  const directory = t.testdir()
  const setAside: string[] = []
  const checks: boolean[] = []
  const driver = new TopologyTestDriver({
    processors: [countingProcessor],
    partitions: 1,
    stores: filesFor(directory),
    application: { stateCacheBytes: 0 },
    observer: {
      onSetAside: (_domain, _partition, reason) => setAside.push(reason),
      onStoreChecked: (_domain, _partition, _busyMs, isIntact) => checks.push(isIntact),
    },
  })
  await driver.start({ untilLive: false })
  await until(driver, isReady(driver))
  const keys = Array.from({ length: KEYS }, (_, i) => key(i))
  await fill(driver, keys)
  const damage = (share: number): void => {
    for (const { path, bytes } of tablesOf(join(directory, 'counting-0'))) flip(path, Math.floor(bytes * share))
  }
  return { driver, setAside, checks, damage }
}

type Counted = Awaited<ReturnType<typeof counted>>

async function countOf(t: Test, driver: TopologyTestDriver, i: number): Promise<unknown> {
  const answer = await driver.application.query('counting', countQuery, key(i), key(i))
  if (answer.ok) return answer.result
  t.match(answer, { reason: /storeFailed|restoring|stopping/, retryAfterMs: 1000 })
  await until(driver, isReady(driver))
  return countOf(t, driver, i)
}

/** Every row is right, and what comes is counted. */
async function isRight(t: Test, driver: TopologyTestDriver): Promise<void> {
  const wrong: number[] = []
  for (let i = 0; i < KEYS; i++) if ((await countOf(t, driver, i)) !== 1) wrong.push(i)
  t.same(wrong, [])
  await driver.log.append('count-me', 0, [inputRecord(key(0))])
  await until(driver, async () => (await isFolded(driver)) && (await countOf(t, driver, 0)) === 2)
}

for (const share of [0.1, 0.2, 0.5]) {
  t.test(`RS-05 a byte at ${share} of each table is damaged at the start: rebuilt before it answers`, async (t) => {
    const { driver, setAside, damage } = await counted(t)
    await driver.stop()
    damage(share)
    await driver.start({ untilLive: false })
    await until(driver, isReady(driver))
    t.match(setAside, [/^table \d+ is damaged/])
    await isRight(t, driver)
    t.equal(setAside.length, 1)
    await driver.stop()
  })
}

/** Damages all tables, at another place each time, as a compaction may take what was damaged away; until it was noticed. */
async function damageUntilFound({ setAside, damage }: Counted, look: () => Promise<void>): Promise<void> {
  for (let share = 0.1; setAside.length === 0 && share < 1; share += 0.1) {
    damage(share)
    await look()
  }
}

t.test('RS-05 damage while a store is open, where nothing reads: found within the hour, and rebuilt', async (t) => {
  const run = await counted(t)
  const { driver, setAside, checks } = run
  await until(driver, () => checks.length === 1)
  const digests = await driver.digests()
  // Then nothing is read for it any more.
  await driver.application.tasks[0]?.commit({ changelog: true })
  await damageUntilFound(run, async () => {
    checks.length = 0
    await driver.clock.advance(HOUR_MS)
    await until(driver, () => checks.length + setAside.length > 0)
    if (checks.includes(false)) await until(driver, () => setAside.length > 0)
  })
  t.match(setAside, [/damaged|corruption/i])
  await until(driver, async () => isReady(driver)() && (await isFolded(driver)))
  t.same(await driver.digests(), digests)
  await isRight(t, driver)
  await driver.stop()
})

t.test('RS-05 damage while a store is open, met by a read: rebuilt, and every row is right', async (t) => {
  const run = await counted(t)
  const { driver, setAside, checks } = run
  await driver.stop()
  // Anew, as nothing is cached then.
  checks.length = 0
  await driver.start({ untilLive: false })
  await until(driver, () => checks.length === 1)
  await damageUntilFound(run, async () => {
    for (let i = 0; i < KEYS; i++) await countOf(t, driver, i)
  })
  t.match(setAside, [/corruption/i])
  await isRight(t, driver)
  await driver.stop()
})
