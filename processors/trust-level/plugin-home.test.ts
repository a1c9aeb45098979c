import t from 'tap'
import { checked, MINUTE_MS, PLUGIN, TrustLevelKit } from './test-kit.js'
import { dmiPluginsQuery } from './queries/dmi-plugins.js'

const PERIOD_MS = 28_000

/** Times of the checks asked for while `ms` pass, each answered `afterMs` later. */
function checkTimes(kit: TrustLevelKit, ms: number, afterMs = 0): number[] {
  const times: number[] = []
  const end = kit.time + ms
  while (kit.time < end) {
    kit.advance(100)
    if (kit.owed(PLUGIN).length === 0) continue
    times.push(kit.time)
    kit.advance(afterMs)
    kit.perform(({ target }) => checked(target, true))
  }
  return times
}

t.test('a plugin is checked first within a period of its registration, then each period', (t) => {
  const kit = new TrustLevelKit()
  const start = kit.time
  kit.register({ created: ['dev-1'] })
  const times = checkTimes(kit, 5 * MINUTE_MS, 1_900)
  const [first = Infinity] = times
  t.ok(first - start <= PERIOD_MS + 100)
  t.ok(times.length >= 10)
  for (const [i, time] of times.entries()) {
    if (i > 0) t.ok(Math.abs(time - (times[i - 1] ?? 0) - PERIOD_MS) <= 200, `check ${i}`)
  }
  t.end()
})

t.test('plugins have phases of their own', (t) => {
  const dues = Array.from({ length: 20 }, (_, i) => {
    const kit = new TrustLevelKit({}, { partitions: 1 })
    kit.register({ plugins: { dmiPlugin: `http://dmi-${i}` }, created: ['dev-1'] })
    return kit.deadlines(0).find(({ id }) => id.startsWith('check'))?.due
  })
  t.ok(new Set(dues).size > 15)
  t.end()
})

t.test('a check never overlaps another, however long it takes', (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  kit.advance(10 * MINUTE_MS)
  t.equal(kit.owed(PLUGIN).length, 1)
  kit.perform(({ target }) => checked(target, true))
  const due = kit.deadlines(PLUGIN).find(({ id }) => id.startsWith('check'))?.due
  t.equal(due, kit.time + PERIOD_MS, 'and what was missed is not made up for')
  t.end()
})

t.test('checks that were due while nobody was there go on from now', (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  const check = kit.deadlines(PLUGIN).find(({ id }) => id.startsWith('check'))
  kit.time += 10 * MINUTE_MS
  if (check !== undefined) kit.fire(kit.partitionOf(PLUGIN), check)
  kit.advance(1_000)
  kit.perform(({ target }) => checked(target, true))
  t.equal(kit.deadlines(PLUGIN).find(({ id }) => id.startsWith('check'))?.due, kit.time - 1_000 + PERIOD_MS)
  t.end()
})

t.test('a second result changes nothing', (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  kit.check(true)
  const before = kit.digest()
  kit.when(PLUGIN, checked(PLUGIN, false))
  t.equal(kit.digest(), before)
  t.end()
})

t.test('the path that answered last is asked first', (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  const paths: unknown[] = []
  for (const up of [true, false, true]) {
    while (kit.owed(PLUGIN).length === 0) kit.advance(1_000)
    paths.push(kit.owed(PLUGIN)[0]?.payload)
    kit.perform(({ target }) => checked(target, up))
  }
  const remembered = { plugin: PLUGIN, healthPath: '/manage/health/readiness' }
  t.strictSame(paths, [{ plugin: PLUGIN, healthPath: '' }, remembered, remembered])
  t.end()
})

t.test('a registration by a plugin known as down is a sign of life', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1'] })
  kit.check(false)
  kit.notices()
  kit.register({ created: ['dev-2'] })
  t.equal(kit.levelAtHome(PLUGIN), 'COMPLETE')
  t.strictSame(kit.notices(), ['dev-1 NONE>COMPLETE plugin'])
  const pages = await kit.queryAll(dmiPluginsQuery, {})
  t.match(
    pages.flatMap((page) => page.plugins),
    [{ trustLevel: 'COMPLETE', reason: 'registered' }],
  )
  kit.check(false)
  t.equal(await kit.level('dev-2'), 'NONE', 'the next check corrects it')
})

t.test('a plugin without handles is forgotten a minute after its registration, and checked no more', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1', 'dev-2'] })
  kit.register({ removed: ['dev-1'] })
  kit.advance(2 * MINUTE_MS)
  kit.register({ removed: ['dev-2'], plugins: {} })
  kit.advance(0)
  t.equal(kit.levelAtHome(PLUGIN), undefined)
  t.strictSame(kit.owed(PLUGIN), [])
  kit.advance(10 * MINUTE_MS)
  t.equal(kit.digest(), '', 'nothing is left of it')
  t.strictSame(kit.deadlines(PLUGIN), [])
  const pages = await kit.queryAll(dmiPluginsQuery, {})
  t.ok(pages.every((page) => page.plugins.length === 0 && Object.keys(page.cmHandles).length === 0))
  t.end()
})

t.test('a plugin whose registration brought no handle is forgotten after a minute, not before', (t) => {
  const kit = new TrustLevelKit()
  kit.register({})
  kit.advance(MINUTE_MS - 1)
  t.equal(kit.levelAtHome(PLUGIN), 'COMPLETE')
  kit.register({})
  kit.advance(MINUTE_MS - 1)
  t.equal(kit.levelAtHome(PLUGIN), 'COMPLETE')
  kit.advance(1)
  t.equal(kit.levelAtHome(PLUGIN), undefined)
  t.end()
})

t.test('a forgotten plugin that is used after all is settled again, and levels told meanwhile count', async (t) => {
  const kit = new TrustLevelKit()
  const { plugin } = kit.when(PLUGIN, { type: 'DmiPluginRegistered', data: { plugin: PLUGIN } }) as {
    plugin: never
  }
  kit.advance(2 * MINUTE_MS)
  t.equal(kit.levelAtHome(PLUGIN), undefined)
  const creation = { cmHandle: 'late', trustLevel: 'NONE', publicProperties: [], additionalProperties: [] } as const
  const texts = { moduleSetTag: '', alternateId: '', dataProducerIdentifier: '', cmHandleStatus: '' }
  const plugins = { dmiPlugin: PLUGIN, dmiDataPlugin: '', dmiModelPlugin: '', dmiDatajobsReadPlugin: '' }
  kit.when('late', {
    type: 'CmHandlesRegistered',
    data: {
      plugins: { ...plugins, dmiDatajobsWritePlugin: '' },
      plugin,
      claimId: 'c',
      removed: [],
      created: [{ ...creation, ...texts }],
      updated: [],
      upgraded: [],
    },
  })
  t.equal(kit.levelAtHome(PLUGIN), 'COMPLETE')
  t.equal(await kit.level('late'), 'NONE')
  t.strictSame(await kit.search({ kind: 'trustLevel', level: 'NONE' }), ['late'])
  kit.advance(5 * MINUTE_MS)
  t.equal(kit.levelAtHome(PLUGIN), 'COMPLETE')
})

t.test('IV-11 names that differ by a trailing slash or the case of the host are one plugin', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ plugins: { dmiPlugin: 'http://dmi-1:8080/' }, created: ['dev-1'] })
  kit.register({ plugins: { dmiPlugin: 'HTTP://DMI-1:8080' }, created: ['dev-2'] })
  const pages = await kit.queryAll(dmiPluginsQuery, {})
  t.ok(pages.flatMap((page) => page.plugins).every(({ plugin }) => plugin === PLUGIN))
  kit.check(false)
  t.strictSame(await kit.search({ kind: 'trustLevel', level: 'NONE' }), ['dev-1', 'dev-2'])
})

t.test('IV-11 the data plugin decides where there is one', async (t) => {
  const kit = new TrustLevelKit()
  const data = 'http://data:1'
  kit.register({ plugins: { dmiDataPlugin: data, dmiModelPlugin: PLUGIN }, created: ['dev-1'] })
  kit.register({ created: ['dev-2'] })
  kit.check(false)
  t.equal(await kit.level('dev-1'), 'COMPLETE', 'the model plugin counts for nothing')
  kit.check(false, data)
  t.equal(await kit.level('dev-1'), 'NONE')
  kit.check(true)
  t.equal(await kit.level('dev-1'), 'NONE')
  t.strictSame(
    kit.notices().filter((notice) => notice.startsWith('dev-1')),
    ['dev-1 COMPLETE>NONE plugin'],
  )
  t.strictSame(await kit.search({ kind: 'dmiPlugin', name: PLUGIN }), ['dev-1', 'dev-2'])
  t.strictSame(await kit.search({ kind: 'dmiPlugin', name: data }), ['dev-1'])
})

t.test('the list of plugins tells health and handles', async (t) => {
  const kit = new TrustLevelKit()
  kit.register({ created: ['dev-1', 'dev-2', 'dev-3'] })
  kit.check(false)
  const pages = await kit.queryAll(dmiPluginsQuery, {})
  t.strictSame(
    pages.flatMap((page) => page.plugins),
    [
      {
        plugin: PLUGIN,
        trustLevel: 'NONE',
        since: kit.time,
        lastCheck: kit.time,
        healthPath: '',
        reason: 'connection refused',
      },
    ],
  )
  t.equal(
    pages.reduce((sum, page) => sum + (page.cmHandles[PLUGIN] ?? 0), 0),
    3,
  )
})
