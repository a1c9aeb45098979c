import t from 'tap'
import { systemClock } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { down, heartbeat, HEARTBEATS, PLUGIN, startPlugin, startSystem, temporaryFolder, up } from './fixtures.js'
import { inFull } from './full-length.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

const MEBIBYTE = 1024 * 1024

t.test('HT-08 a paged search while states change', async (t) => {
  const system = await startSystem(t)
  const ids = Array.from({ length: 60_000 }, (_, i) => `dev-${i}`)
  const steady = ids.slice(0, 20_000)
  const flipping = ids.slice(20_000)
  await system.register(
    PLUGIN,
    ids.map((cmHandle, i) => ({ cmHandle, ...(i < 30_000 && { trustLevel: 'NONE' as const }) })),
  )
  const body = {
    cmHandleQueryParameters: [
      { conditionName: 'cmHandleWithTrustLevel', conditionParameters: [{ trustLevel: 'NONE' }] },
    ],
  }
  const found = new Map<string, number>()
  let path: string | undefined = '/ncmp/v1/ch/id-searches?limit=1000'
  let pages = 0
  for (; path !== undefined; pages++) {
    const { status, headers, text } = await system.ask(path, { body })
    if (status !== 200) throw new Error(text)
    const page = JSON.parse(text) as string[]
    t.ok(page.length <= 1000)
    for (const id of page) found.set(id, (found.get(id) ?? 0) + 1)
    path = /<([^>]+)>; rel="next"/.exec(String(headers['link']))?.[1]
    const some = Array.from({ length: 500 }, (_, i) => flipping[(pages * 500 + i * 37) % flipping.length]!)
    await system.report(some.map((id, i) => [id, (pages + i) % 2 === 0 ? 'NONE' : 'COMPLETE'] as const))
  }
  t.ok(pages >= 20, `${pages} pages`)
  t.same(
    steady.filter((id) => found.get(id) !== 1),
    [],
    'what was NONE throughout appears exactly once',
  )
  t.same(
    [...found].filter(([, times]) => times > 1),
    [],
  )
  for (const after of ['nonsense', Buffer.from('{"a":1}').toString('base64url')]) {
    t.equal((await system.ask(`/ncmp/v1/ch/id-searches?limit=10&after=${after}`, { body })).status, 400)
  }
})

t.test('HS-21 a plugin with 30,000 devices flaps', async (t) => {
  const running = spawnPulsefold(t, temporaryFolder(t), {
    values: { dmiHealthIntervalMs: 1000, dmiHealthDeadlineMs: 500 },
  })
  await running.ready
  const plugin = await startPlugin(t)
  const count = 30_000
  const ids = Array.from({ length: count }, (_, i) => `dev-${i}`)
  await running.register(plugin.address, ids)
  const heap = (): Promise<number> => running.metric('nodejs_heap_size_used_bytes')
  const heapBefore = await heap()
  let mostHeap = heapBefore
  for (const [turn, [health, level]] of (
    [
      [down, 'NONE'],
      [up, 'COMPLETE'],
      [down, 'NONE'],
    ] as const
  ).entries()) {
    plugin.health = health
    const asked = plugin.asked.length
    await until('the check', () => plugin.asked.length > asked)
    const samples = [ids[0]!, ids[count / 2]!, ids[count - 1]!]
    const askedAt = performance.now()
    await Promise.all(samples.map((id) => running.levelIs(id, level)))
    const saidMs = performance.now() - askedAt
    t.comment(`look-ups say ${level} ${saidMs.toFixed(0)} ms after detection`)
    t.ok(saidMs < inFull(1000, Infinity), 'soon')
    await until(
      'all notices',
      async () => {
        mostHeap = Math.max(mostHeap, await heap())
        return (await running.metric('pulsefold_output_records_total', 'ncmp-inventory-events')) >= count * (turn + 1)
      },
      60_000,
    )
    t.equal((await running.searchLevel(level)).length, count)
  }
  const notices = await running.notices()
  t.equal(notices.length, 3 * count, 'none lost')
  t.equal(new Set(notices).size, 2 * count, 'each handle went to NONE and back')
  t.equal((await running.records('ncmp-inventory-events')).length, 3 * count, 'none doubled')
  t.ok(mostHeap - heapBefore < 200 * MEBIBYTE, `the heap grew by ${Math.round((mostHeap - heapBefore) / MEBIBYTE)} MiB`)
})

t.test('ME-01 200,000 tiny records in one append', async (t) => {
  const system = await startSystem(t)
  await system.register(PLUGIN, ['dev-1'])
  const count = 200_000
  const tombstone = { key: Buffer.from('k'), value: null }
  await system.append([...Array.from({ length: count }, () => tombstone), heartbeat('dev-1', 'NONE')])
  t.ok(await system.levelIs('dev-1', 'NONE', 120_000))
  t.equal(await system.metric('pulsefold_ingested_records_total', 'NULL_VALUE'), count)
  await system.stop()
  await system.start()
  t.equal(await system.level('dev-1'), 'NONE')
  const { log } = system.pulsefold().application
  let letters = 0
  for (const partition of [0, 1, 2]) {
    letters += (await log.offsets({ topic: 'pulsefold-dead-letters', partition })).end
  }
  t.equal(letters, count)
  await system.append(
    Array.from({ length: count }, () => heartbeat('dev-1', 'COMPLETE', { key: null })),
    1,
  )
  t.ok(await system.levelIs('dev-1', 'COMPLETE', 120_000))
  await system.settled()
  t.equal((await log.offsets({ topic: HEARTBEATS, partition: 1 })).end, count)
})

/** The real clock, which can be moved on: timers then fire as if that time had passed. */
function skippingClock(): Clock & { skip(ms: number): void } {
  let skipped = 0
  const waiting = new Set<{ due: number; arm: () => void }>()
  const monotonic = (): number => systemClock.monotonic() + skipped
  return {
    now: () => systemClock.now() + skipped,
    monotonic,
    setTimer(callback, delayMs) {
      let cancel = (): void => undefined
      const timer = {
        due: monotonic() + delayMs,
        arm() {
          cancel()
          cancel = systemClock.setTimer(
            () => {
              waiting.delete(timer)
              callback()
            },
            Math.max(0, timer.due - monotonic()),
          )
        },
      }
      waiting.add(timer)
      timer.arm()
      return () => {
        waiting.delete(timer)
        cancel()
      }
    },
    skip(ms) {
      skipped += ms
      for (const { arm } of waiting) arm()
    },
  }
}

t.test('ME-06 devices registered and removed repeatedly', async (t) => {
  const clock = skippingClock()
  const system = await startSystem(t, { pendingLevelMs: 1000, changelogIntervalMs: 100 }, clock)
  const { application } = system.pulsefold()
  const changelog = 'pulsefold-trust-level-changelog'
  /** Keys of the changelog whose newest record is no tombstone: compaction leaves those. */
  const liveKeys = async (): Promise<number> => {
    const live = new Map<string, boolean>()
    for (const { partition, key, value } of await system.records(changelog)) {
      live.set(`${partition}/${key}`, value !== null)
    }
    return [...live.values()].filter(Boolean).length
  }
  const topics = (await application.log.topics()).map(({ name }) => name)
  t.ok(topics.includes(changelog), topics.join())
  const ids = Array.from({ length: inFull(60_000, 1000) }, (_, i) => `dev-${i}`)
  // A request waits 30 s for all of its handles.
  const portions = Array.from({ length: ids.length / 1000 }, (_, i) => ids.slice(i * 1000, (i + 1) * 1000))
  let emptyKeys = 0
  for (let round = 0; round < 10; round++) {
    for (const portion of portions) await system.register(PLUGIN, portion)
    t.equal((await system.search()).length, ids.length)
    for (const portion of portions) await system.remove(PLUGIN, portion)
    t.same(await system.search(), [])
    // Answers are kept for ten minutes, tombstones of handles for a second.
    clock.skip(11 * 60_000)
    await system.report([['nobody', 'NONE']])
    emptyKeys = await until(
      `only what an empty system has, after round ${round + 1}`,
      async () => {
        const keys = await liveKeys()
        return keys < 100 && keys
      },
      inFull(600_000, 30_000),
    )
  }
  t.ok(emptyKeys < 100, `${emptyKeys} keys are left`)
  t.same(await system.notices(), [], 'nothing of it is announced')
})
