import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { temporaryFolder } from './fixtures.js'
import { platformsOf } from './outcomes.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

const KILLS = Number(process.env['PULSEFOLD_TEST_KILLS'] ?? 3)
const PLATFORMS = ['p1', 'p2', 'p3', 'p4']
const ADDRESSES = ['a1', 'a2', 'a3']
const BATCH = 60
/** Batches taken before each kill. */
const BATCHES = 25

for (const isStateLost of [false, true]) {
  const how = isStateLost ? 'the stores deleted at each kill' : 'the stores kept'
  t.test(`RS-12 kill -9 under load, ${KILLS} times, ${how}: totals are what was sent`, async (t) => {
    const folder = temporaryFolder(t)
    const values = { partitions: 6 }
    let running = spawnPulsefold(t, folder, { values })
    await running.ready
    for (const name of PLATFORMS) await platformsOf(running).create(name, ADDRESSES, { detectInterval: 3_600_000 })
    const sent = new Map<string, number>()
    let calls = 0
    for (let life = 0; life <= KILLS; life++) {
      calls = await callUntilKilled(t, running, sent, calls, life < KILLS)
      if (life === KILLS) break
      await running.ended
      if (isStateLost) {
        const stores = join(folder, 'data', 'stores')
        for (const store of readdirSync(stores)) rmSync(join(stores, store), { recursive: true })
      }
      running = spawnPulsefold(t, folder, { values })
      await running.ready
    }
    for (const platform of PLATFORMS) {
      const total = (): Promise<Record<string, number>> => totals(running, platform)
      const wanted = Object.fromEntries(ADDRESSES.map((address) => [address, sent.get(`${platform} ${address}`) ?? 0]))
      await until(`all calls of ${platform}`, async () => JSON.stringify(await total()) === JSON.stringify(wanted))
      t.same(await total(), wanted)
    }
    t.comment(`${calls} outcomes`)
  })
}

type Running = ReturnType<typeof spawnPulsefold>

async function totals(running: Running, platform: string): Promise<Record<string, number>> {
  const addresses = await platformsOf(running).addresses(platform)
  return Object.fromEntries(addresses.map(({ address, window }) => [address, window.calls]))
}

/** Reports calls; a batch that was not acknowledged when the process died is sent again to the next one. */
async function callUntilKilled(
  t: Test,
  running: Running,
  sent: Map<string, number>,
  from: number,
  isKilled: boolean,
): Promise<number> {
  const platforms = platformsOf(running)
  let next = from
  const batch = (first: number) =>
    Array.from({ length: BATCH }, (_, at) => {
      const call = first + at
      const platform = PLATFORMS[call % PLATFORMS.length] ?? ''
      const address = ADDRESSES[Math.floor(call / PLATFORMS.length) % ADDRESSES.length] ?? ''
      return { platform, address, result: call % 7 === 0 ? 'failure' : 'success', callId: `call-${call}` }
    })
  for (let taken = 0; taken < BATCHES || isKilled; taken++) {
    const outcomes = batch(next)
    if (isKilled && taken === BATCHES) setTimeout(() => running.kill('SIGKILL'), 5)
    try {
      await platforms.report(outcomes)
    } catch (error) {
      t.ok(isKilled, String(error))
      return next
    }
    for (const { platform, address } of outcomes) {
      const name = `${platform} ${address}`
      sent.set(name, (sent.get(name) ?? 0) + 1)
    }
    next += BATCH
  }
  return next
}
