import t from 'tap'
import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import { PLUGIN, TrustLevelKit } from './test-kit.js'
import type { Condition } from './views.js'

const NONE: Condition = { kind: 'trustLevel', level: 'NONE' }
const COMPLETE: Condition = { kind: 'trustLevel', level: 'COMPLETE' }

function kitWith(onDmiRestart: 'complete' | 'keep', ...created: (string | [string, TrustLevel])[]): TrustLevelKit {
  const kit = new TrustLevelKit({ onDmiRestart })
  kit.register({
    created: created.map((one) => (typeof one === 'string' ? one : { cmHandle: one[0], trustLevel: one[1] })),
  })
  kit.notices()
  return kit
}

t.test("the cases of NCMP's trust level manager", async (t) => {
  await t.test('initial registration of a plugin: it is COMPLETE', (t) => {
    t.equal(kitWith('keep', 'ch-1').levelAtHome(PLUGIN), 'COMPLETE')
    t.end()
  })
  await t.test('handles registered without level and as COMPLETE are COMPLETE, and no notice is sent', async (t) => {
    const kit = new TrustLevelKit()
    kit.register({ created: ['ch-1', { cmHandle: 'ch-2', trustLevel: 'COMPLETE' }] })
    t.strictSame(await kit.search(COMPLETE), ['ch-1', 'ch-2'])
    t.strictSame(kit.notices(), [])
  })
  await t.test('a handle registered as NONE: a notice without old value', async (t) => {
    const kit = new TrustLevelKit()
    kit.register({ created: [{ cmHandle: 'ch-2', trustLevel: 'NONE' }] })
    t.strictSame(kit.notices(), ['ch-2 >NONE registration'])
    t.equal(await kit.level('ch-2'), 'NONE')
  })
  await t.test('a plugin goes down: a notice for its trusted handle', (t) => {
    const kit = kitWith('keep', 'ch-1')
    kit.check(false)
    t.strictSame(kit.notices(), ['ch-1 COMPLETE>NONE plugin'])
    t.equal(kit.levelAtHome(PLUGIN), 'NONE')
    t.end()
  })
  await t.test('a plugin checked with the same result: no notice', (t) => {
    const kit = kitWith('keep', 'ch-1')
    kit.check(true)
    t.strictSame(kit.notices(), [])
    t.equal(kit.levelAtHome(PLUGIN), 'COMPLETE')
    t.end()
  })
  await t.test('a handle reported COMPLETE after NONE: a notice', async (t) => {
    const kit = kitWith('keep', ['ch-1', 'NONE'])
    kit.heartbeat('ch-1', 'COMPLETE')
    t.strictSame(kit.notices(), ['ch-1 NONE>COMPLETE heartbeat'])
    t.equal(await kit.level('ch-1'), 'COMPLETE')
  })
  await t.test('a handle reported with the same level: no notice', async (t) => {
    const kit = kitWith('keep', ['ch-1', 'NONE'])
    kit.heartbeat('ch-1', 'NONE')
    t.strictSame(kit.notices(), [])
    t.equal(await kit.level('ch-1'), 'NONE')
  })
  await t.test('a plugin is up again, its handle is not trusted: no notice (keep)', async (t) => {
    const kit = kitWith('keep', ['ch-1', 'NONE'])
    kit.check(false)
    kit.check(true)
    t.strictSame(kit.notices(), [])
    t.equal(await kit.level('ch-1'), 'NONE')
  })
  await t.test('the effective level of a trusted handle of a plugin that is down is NONE', async (t) => {
    const kit = kitWith('keep', 'ch-1')
    kit.check(false)
    t.match(await kit.look('ch-1'), { handle: { trustLevel: 'NONE' }, evidence: { ownLevel: 'COMPLETE' } })
  })
  await t.test('the effective levels of several handles of several plugins', async (t) => {
    const kit = kitWith('keep', 'ch-1', ['ch-2', 'NONE'])
    const down = 'http://dmi-2:8080'
    kit.register({ plugins: { dmiPlugin: down }, created: ['ch-3', { cmHandle: 'ch-4', trustLevel: 'NONE' }] })
    kit.check(false, down)
    t.strictSame(await kit.search(NONE), ['ch-2', 'ch-3', 'ch-4'])
    t.strictSame(await kit.search(COMPLETE), ['ch-1'])
  })
  for (const level of ['COMPLETE', 'NONE'] as const) {
    await t.test(`a handle that is ${level} is removed: no notice`, async (t) => {
      const kit = kitWith('keep', ['ch-1', level])
      kit.register({ removed: ['ch-1'] })
      t.strictSame(kit.notices(), [])
      t.match(await kit.look('ch-1'), { found: false })
      t.strictSame(await kit.search(level === 'NONE' ? NONE : COMPLETE), [])
    })
  }
})

t.test("the rows of NCMP's plugin watchdog", (t) => {
  const rows: [status: string, before: TrustLevel, after: TrustLevel, changes: number][] = [
    ['UP', 'COMPLETE', 'COMPLETE', 0],
    ['DOWN', 'COMPLETE', 'NONE', 1],
    ['DOWN', 'NONE', 'NONE', 0],
    ['UP', 'NONE', 'COMPLETE', 1],
    ['', 'COMPLETE', 'NONE', 1],
  ]
  for (const [status, before, after, changes] of rows) {
    const kit = kitWith('keep', 'ch-1')
    kit.check(before === 'COMPLETE')
    kit.notices()
    kit.check(status === 'UP')
    t.equal(kit.levelAtHome(PLUGIN), after, `${before}, then status "${status}"`)
    t.equal(kit.notices().length, changes)
  }
  t.end()
})

t.test(
  'HS-07 the level shown is the lower of device and plugin, and only effective changes are told (keep)',
  async (t) => {
    const kit = kitWith('keep', 'dev-1', ['dev-2', 'NONE'])
    kit.check(false)
    t.strictSame(kit.notices(), ['dev-1 COMPLETE>NONE plugin'])
    kit.heartbeat('dev-1', 'NONE')
    kit.heartbeat('dev-2', 'COMPLETE')
    t.strictSame(await kit.search(NONE), ['dev-1', 'dev-2'])
    kit.check(true)
    t.equal(await kit.level('dev-1'), 'NONE')
    t.equal(await kit.level('dev-2'), 'COMPLETE')
    t.strictSame(kit.notices(), ['dev-2 NONE>COMPLETE plugin'])
    kit.heartbeat('dev-1', 'COMPLETE')
    t.strictSame(await kit.search(COMPLETE), ['dev-1', 'dev-2'])
    t.strictSame(kit.notices(), ['dev-1 NONE>COMPLETE heartbeat'])
  },
)

t.test('HS-07 after the plugin is up again all its handles are COMPLETE (complete)', async (t) => {
  const kit = kitWith('complete', 'dev-1', ['dev-2', 'NONE'])
  kit.check(false)
  kit.heartbeat('dev-1', 'NONE')
  kit.notices()
  kit.check(true)
  t.strictSame(await kit.search(COMPLETE), ['dev-1', 'dev-2'])
  t.strictSame(kit.notices().sort(), ['dev-1 NONE>COMPLETE plugin', 'dev-2 NONE>COMPLETE plugin'])
  kit.heartbeat('dev-1', 'NONE', kit.time - 10_000)
  t.equal(await kit.level('dev-1'), 'NONE', 'a level told after the return counts, whatever its event time')
})

t.test('HS-21 a plugin with 30,000 handles flaps: each change is told once to each handle', async (t) => {
  const kit = new TrustLevelKit({}, { partitions: 4 })
  const count = 30_000
  for (let i = 0; i < count; i += 2_000) {
    kit.register({ created: Array.from({ length: 2_000 }, (_, j) => `dev-${i + j}`) })
  }
  kit.check(true)
  for (const [isUp, change] of [
    [false, 'COMPLETE>NONE'],
    [true, 'NONE>COMPLETE'],
    [false, 'COMPLETE>NONE'],
  ] as const) {
    const rowsBefore = kit.digest().split('\n').length
    kit.check(isUp)
    const notices = kit.notices()
    t.equal(notices.length, count)
    t.equal(new Set(notices).size, count, 'none doubled')
    t.ok(notices.every((notice) => notice.endsWith(`${change} plugin`)))
    t.equal(kit.digest().split('\n').length, rowsBefore, 'no row more')
  }
  t.equal((await kit.search(NONE)).length, count)
})

t.test('a plugin that flaps while a pass is under way loses and doubles no notice', (t) => {
  const kit = new TrustLevelKit({}, { partitions: 1 })
  const ids = Array.from({ length: 1_200 }, (_, i) => `dev-${String(i).padStart(4, '0')}`)
  kit.register({ created: ids })
  const level = (trustLevel: TrustLevel, number: number): void => {
    const data = { plugin: PLUGIN, trustLevel, number, returnNumber: -1, since: kit.time, forgotten: false }
    kit.append(PLUGIN, { type: 'DmiPluginLevelBroadcast', data })
  }
  level('NONE', 9_000_000_000_000_000)
  const [first] = kit.deadlines(0)
  t.ok(first?.id.startsWith('announce'))
  if (first !== undefined) kit.fire(0, first)
  t.equal(kit.notices().length, 500)
  level('COMPLETE', 9_000_000_000_000_001)
  if (first !== undefined) kit.fire(0, first)
  kit.advance(0)
  t.strictSame(
    kit.notices(),
    ids.slice(0, 500).map((id) => `${id} NONE>COMPLETE plugin`),
    'only those that had been told',
  )
  t.equal(kit.deadlines(0).filter(({ id }) => id.startsWith('announce')).length, 0)
  t.end()
})

t.test('a broadcast with a number not above the last is ignored', async (t) => {
  const kit = kitWith('keep', 'dev-1')
  const data = { plugin: PLUGIN, returnNumber: -1, since: kit.time, forgotten: false }
  kit.when('dev-1', {
    type: 'DmiPluginLevelBroadcast',
    data: { ...data, trustLevel: 'NONE', number: 9_000_000_000_000_000 },
  })
  for (const number of [9_000_000_000_000_000, 8_999_999_999_999_999]) {
    kit.when('dev-1', { type: 'DmiPluginLevelBroadcast', data: { ...data, trustLevel: 'COMPLETE', number } })
    t.equal(await kit.level('dev-1'), 'NONE')
  }
})

t.test('with notices off a plugin that goes down is one record, and nothing is sent', async (t) => {
  const kit = new TrustLevelKit({ trustLevelNotices: false })
  kit.register({ created: ['dev-1', { cmHandle: 'dev-2', trustLevel: 'NONE' }] })
  kit.check(false)
  kit.heartbeat('dev-2', 'COMPLETE')
  t.strictSame(kit.outputs, [])
  t.equal(await kit.level('dev-1'), 'NONE')
})

t.test('the evidence names what decided: the plugin, the handle, or the return of the plugin', async (t) => {
  const kit = new TrustLevelKit({}, { partitions: 1 })
  kit.register({ created: ['dev-1'] })
  const evidence = async (): Promise<Record<string, unknown>> => {
    const found = await kit.look('dev-1')
    return found.found ? { ...found.evidence } : {}
  }
  kit.heartbeat('dev-1', 'NONE')
  const own = await evidence()
  t.match(own, { ownLevel: 'NONE', pluginLevel: 'COMPLETE', plugin: PLUGIN, ownSince: kit.time })
  kit.check(false)
  const down = await evidence()
  t.match(down, { ownLevel: 'NONE', pluginLevel: 'NONE', pluginSince: kit.time })
  t.not((down['decidedBy'] as { offset: number }).offset, (own['decidedBy'] as { offset: number }).offset)
  kit.check(true)
  t.match(await evidence(), { ownLevel: 'COMPLETE', ownSince: kit.time, pluginLevel: 'COMPLETE' })
})

t.test('where both levels are COMPLETE the evidence names the later record: since it both are', async (t) => {
  const kit = kitWith('keep', 'dev-1')
  const decidedAt = async (): Promise<number> => {
    const found = await kit.look('dev-1')
    return found.found ? (found.evidence.decidedBy?.offset ?? -1) : -1
  }
  const decided = [await decidedAt()]
  for (const happen of [
    () => kit.check(false),
    () => kit.check(true),
    () => kit.heartbeat('dev-1', 'NONE'),
    () => kit.heartbeat('dev-1', 'COMPLETE'),
  ]) {
    happen()
    decided.push(await decidedAt())
  }
  t.strictSame(
    decided.toSorted((a, b) => a - b),
    [...new Set(decided)],
    'each later than the one before',
  )
})
