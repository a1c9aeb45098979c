import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { PLUGIN, temporaryFolder } from './fixtures.js'
import { inFull } from './full-length.js'
import type { Level } from './http-client.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { until } from './until.js'

const ids = Array.from({ length: 2000 }, (_, i) => `dev-${i}`)
const levelOf = (i: number): Level => (i % 3 === 0 ? 'NONE' : 'COMPLETE')

/** 2,000 handles with levels, and the process killed or stopped. */
async function written(t: Test, signal: NodeJS.Signals): Promise<{ folder: string; stores: string }> {
  const folder = temporaryFolder(t)
  const running = spawnPulsefold(t, folder)
  await running.ready
  await running.register(PLUGIN, ids)
  await running.report(ids.map((id, i) => [id, levelOf(i)] as const))
  await until(
    'levels',
    async () => (await running.searchLevel('NONE')).length === ids.filter((_, i) => i % 3 === 0).length,
  )
  running.kill(signal)
  await running.ended
  return { folder, stores: join(folder, 'data', 'stores') }
}

async function checkLevels(t: Test, running: RealProcess): Promise<void> {
  const [none, complete] = [await running.searchLevel('NONE'), await running.searchLevel('COMPLETE')]
  const wanted = (level: Level): string[] => ids.filter((_, i) => levelOf(i) === level).sort()
  t.same(none.sort(), wanted('NONE'))
  t.same(complete.sort(), wanted('COMPLETE'))
  for (const i of [0, 1, 2, 1999]) t.equal(await running.level(ids[i]!), levelOf(i))
}

async function startAndCheck(t: Test, folder: string): Promise<RealProcess> {
  const running = spawnPulsefold(t, folder)
  await running.ready
  t.equal((await running.ask('/ops/health/ready')).status, 200)
  await checkLevels(t, running)
  return running
}

const newest = (directory: string, name: RegExp): string =>
  join(
    directory,
    readdirSync(directory)
      .filter((file) => name.test(file))
      .sort()
      .at(-1) ?? 'none',
  )
const cutTo = (path: string, share: number): void => truncateSync(path, Math.floor(statSync(path).size * share))
const tasks = [0, 1, 2].map((partition) => `trust-level-${partition}`)

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  t.test(`a restart after ${signal} keeps all levels`, async (t) => {
    const { folder } = await written(t, signal)
    await startAndCheck(t, folder)
  })

  t.test(`RS-05 after ${signal} the write-ahead logs of the stores are cut short`, async (t) => {
    const { folder, stores } = await written(t, signal)
    for (const task of tasks) cutTo(newest(join(stores, task), /\.log$/), 0.6)
    await startAndCheck(t, folder)
  })
}

t.test('RS-05 all stores are gone', async (t) => {
  const { folder, stores } = await written(t, 'SIGKILL')
  rmSync(stores, { recursive: true })
  await startAndCheck(t, folder)
})

t.test('RS-07 a store directory that will not open', async (t) => {
  const { folder, stores } = await written(t, 'SIGTERM')
  const saved = join(folder, 'saved')
  cpSync(join(folder, 'data'), saved, { recursive: true })
  const store = join(stores, 'trust-level-1')
  const damages: Record<string, () => void> = {
    'a MANIFEST is cut to half': () => cutTo(newest(store, /^MANIFEST/), 0.5),
    'b CURRENT is empty': () => truncateSync(join(store, 'CURRENT'), 0),
    'c CURRENT is gone': () => rmSync(join(store, 'CURRENT')),
  }
  for (const [name, damage] of Object.entries(damages)) {
    await t.test(`RS-07 ${name}: set aside, rebuilt, said once`, async (t) => {
      rmSync(join(folder, 'data'), { recursive: true })
      cpSync(saved, join(folder, 'data'), { recursive: true })
      damage()
      const running = await startAndCheck(t, folder)
      t.equal(readdirSync(stores).filter((entry) => entry.startsWith('trust-level-1.set-aside-')).length, 1)
      running.kill('SIGTERM')
      const { code, log } = await running.ended
      t.equal(code, 0)
      t.equal(log.filter((line) => line.includes('set aside')).length, 1)
    })
  }

  await t.test('RS-07 d a plain file is in its place: named, non-zero, nothing deleted', async (t) => {
    rmSync(join(folder, 'data'), { recursive: true })
    cpSync(saved, join(folder, 'data'), { recursive: true })
    rmSync(store, { recursive: true })
    writeFileSync(store, 'mine')
    const { code, out, last } = await spawnPulsefold(t, folder).ended
    t.equal(code, 69)
    t.match(out, store)
    t.match(last, { level: 'fatal' })
    t.equal(readFileSync(store, 'utf8'), 'mine')
    for (const task of ['trust-level-0', 'trust-level-2']) t.ok(existsSync(join(stores, task, 'CURRENT')))
  })
})

t.test('RS-09 a data directory in use, and the LOCK that kill -9 leaves', async (t) => {
  const folder = temporaryFolder(t)
  const first = spawnPulsefold(t, folder)
  await first.ready
  await first.register(PLUGIN, ids)
  await first.report(ids.map((id, i) => [id, levelOf(i)] as const))
  const second = await spawnPulsefold(t, folder).ended
  t.equal(second.code, 69)
  t.match(second.out, join(folder, 'data'))
  await first.levelIs('dev-0', 'NONE')
  await first.report([['dev-0', 'COMPLETE']])
  t.ok(await first.levelIs('dev-0', 'COMPLETE'), 'the first goes on')
  await first.report([['dev-0', 'NONE']])
  first.kill('SIGKILL')
  await first.ended
  const locks = ['log', ...tasks.map((task) => join('stores', task))].map((path) => join(folder, 'data', path, 'LOCK'))
  for (const lock of locks) t.ok(existsSync(lock))
  const inodes = locks.map((lock) => statSync(lock).ino)
  await startAndCheck(t, folder)
  t.same(
    locks.map((lock) => statSync(lock).ino),
    inodes,
    'no LOCK was made anew',
  )
})

t.test('OR-08 another partition count under existing state is refused', async (t) => {
  const { folder } = await written(t, 'SIGTERM')
  const { code, out, last } = await spawnPulsefold(t, folder, { values: { partitions: 6 } }).ended
  t.equal(code, 78)
  t.match(out, /dmi-device-heartbeat|pulsefold-[a-z-]+/)
  t.match(out, /\b6\b/)
  t.match(out, /\b3\b/)
  t.match(last, { level: 'fatal', err: { code: 'TOPIC_MISMATCH' } })
  await startAndCheck(t, folder)
})

t.test('kill -9 under load loses nothing acknowledged', async (t) => {
  const folder = temporaryFolder(t)
  let running = spawnPulsefold(t, folder)
  await running.ready
  const devices = ids.slice(0, 300)
  await running.register(PLUGIN, devices)
  /** The level sent last and whether that was acknowledged, for each device. */
  const sent = new Map<string, { level: Level; acknowledged: boolean; before: Level }>()
  const lanes = 6
  for (let life = 0; life < 4; life++) {
    const alive = running
    let acknowledgedNow = 0
    const lane = async (which: number): Promise<void> => {
      const own = devices.filter((_, i) => i % lanes === which)
      for (let round = 0; ; round++) {
        for (let at = 0; at < own.length; at += 10) {
          const batch = own.slice(at, at + 10).map((id) => {
            const last = sent.get(id)
            const level: Level = (last?.level ?? 'COMPLETE') === 'NONE' ? 'COMPLETE' : 'NONE'
            // A level never acknowledged may or may not have been taken.
            sent.set(id, { level, acknowledged: false, before: last?.level ?? 'COMPLETE' })
            return [id, level] as const
          })
          try {
            await alive.report(batch)
          } catch {
            return
          }
          for (const [id] of batch) sent.set(id, { ...sent.get(id)!, acknowledged: true })
          acknowledgedNow += batch.length
        }
      }
    }
    const load = Promise.all(Array.from({ length: lanes }, (_, which) => lane(which)))
    await until('load', () => acknowledgedNow > 1500)
    alive.kill('SIGKILL')
    await Promise.all([load, alive.ended])
    running = spawnPulsefold(t, folder)
    await running.ready
    const none = new Set(await running.searchLevel('NONE'))
    for (const [id, { level, acknowledged, before }] of sent) {
      const now: Level = none.has(id) ? 'NONE' : 'COMPLETE'
      if (acknowledged ? now !== level : now !== level && now !== before) t.fail(`${id} is ${now}, sent was ${level}`)
      sent.set(id, { level: now, acknowledged: true, before: now })
    }
    t.ok(acknowledgedNow > 1500, `${acknowledgedNow} acknowledged reports were all there after kill ${life + 1}`)
  }
  await checkChains(t, running, devices, new Map([...sent].map(([id, { level }]) => [id, level])))
})

/** The notices of each handle are a chain from COMPLETE to its level: none lost, none double. */
async function checkChains(
  t: Test,
  running: RealProcess,
  devices: readonly string[],
  levels: ReadonlyMap<string, Level>,
): Promise<void> {
  const wrong = await until('all notices are out', async () => {
    const found = brokenChains(await running.notices(), devices, levels)
    return found.length === 0 && found
  }).catch(async () => brokenChains(await running.notices(), devices, levels))
  t.same(wrong, [], 'each change was told once')
}

function brokenChains(
  notices: readonly string[],
  devices: readonly string[],
  levels: ReadonlyMap<string, Level>,
): string[] {
  const chains = new Map<string, string[]>(devices.map((id) => [id, []]))
  for (const notice of notices) {
    const [id = '', change = ''] = notice.split(' ')
    chains.get(id)?.push(change)
  }
  return devices.filter((id) => {
    const changes = chains.get(id) ?? []
    const isChain = changes.every((change, i) => change === (i % 2 === 0 ? 'COMPLETE>NONE' : 'NONE>COMPLETE'))
    return !isChain || (changes.length % 2 === 1) !== (levels.get(id) === 'NONE')
  })
}

t.test('SH-01 SIGTERM in mid-batch, several times in a row', async (t) => {
  const folder = temporaryFolder(t)
  const devices = ids.slice(0, 1000)
  let running = spawnPulsefold(t, folder)
  await running.ready
  await running.register(PLUGIN, devices)
  const times = inFull(20, 5)
  const batch = Array.from(
    { length: 5000 },
    (_, i) => [devices[i % devices.length]!, Math.floor(i / devices.length)] as const,
  )
  for (let time = 0; time < times; time++) {
    // Five changes of each device in one batch, so that every time ends on the other level.
    const levels = batch.map(([id, turn]) => [id, (turn + time) % 2 === 0 ? 'NONE' : 'COMPLETE'] as [string, Level])
    const alive = running
    await alive.report(levels)
    alive.kill('SIGTERM')
    const { code, signal, log, last } = await alive.ended
    t.same([code, signal], [0, null])
    t.match(last, { msg: 'stopped' })
    t.same(
      log.filter((line) => /"level":"(error|fatal)"/.test(line)),
      [],
    )
    running = spawnPulsefold(t, folder)
    await running.ready
    const wanted = time % 2 === 0 ? 'NONE' : 'COMPLETE'
    const found = await running.searchLevel(wanted)
    t.equal(found.length, devices.length, `all are ${wanted} after stop ${time + 1}`)
  }
  const counts = await until('all notices', async () => {
    const notices = await running.notices()
    return notices.length >= times * 5000 && notices.length
  })
  t.equal(counts, times * 5000, 'each of the changes was told once')
})
