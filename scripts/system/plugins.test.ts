import t from 'tap'
import type { Settings } from '../../common/settings.js'
import { down, heartbeat, startPlugin, startSystem, temporaryFolder, up } from './fixtures.js'
import type { Health, PluginDouble, System } from './fixtures.js'
import { inFull } from './full-length.js'
import { spawnPulsefold } from './real-process.js'
import { until } from './until.js'

/** Of one check: shortened from 30 s and 2 s, with a deadline that one that is well keeps on a busy machine. */
const FAST = { dmiHealthIntervalMs: 1000, dmiHealthDeadlineMs: 900 } satisfies Partial<Settings>

interface PluginState {
  readonly plugin: string
  readonly trustLevel: string
  readonly lastCheck: string | null
  readonly reason: string
  readonly cmHandles: number
}

async function pluginState(system: System, { address }: PluginDouble): Promise<PluginState | undefined> {
  const states = await system.json<PluginState[]>('/ops/dmi-plugins')
  return states.find(({ plugin }) => plugin === address)
}

const checks = (plugin: PluginDouble, more: number): Promise<boolean> => {
  const wanted = plugin.asked.length + more
  return until(`${more} more checks`, () => plugin.asked.length >= wanted)
}

t.test('with the default onDmiRestart', async (t) => {
  const system = await startSystem(t, FAST)
  const { level, levelIs, register, registration } = system

  t.test('IV-11 a plugin address with trailing slash or other case', async (t) => {
    const [a, b, data, own] = [await startPlugin(t), await startPlugin(t), await startPlugin(t), await startPlugin(t)]
    const upperCase = `HTTP://LOCALHOST:${b.port}`
    await register(`${a.address}/`, ['iv11-a1'])
    await register(a.address, ['iv11-a2'])
    await register(upperCase, ['iv11-b1'])
    await register(`http://localhost:${b.port}/`, ['iv11-b2'])
    const body = { dmiDataPlugin: `${data.address}/`, dmiModelPlugin: own.address, dmiPlugin: '' }
    const { status } = await registration({ ...body, createdCmHandles: [{ cmHandle: 'iv11-c' }] })
    t.equal(status, 200)
    await Promise.all([a, b, data].map((plugin) => checks(plugin, 1)))
    for (const plugin of [a, b, data]) plugin.health = down
    for (const id of ['iv11-a1', 'iv11-a2', 'iv11-b1', 'iv11-b2', 'iv11-c']) t.ok(await levelIs(id, 'NONE'))
    for (const plugin of [a, b, data]) t.same([...new Set(plugin.asked)], ['/manage/health/readiness'])
    t.equal((await pluginState(system, a))?.cmHandles, 2)
    t.equal(own.asked.length, 0, 'the model plugin is not asked for its health')
  })

  t.test('HS-07 with complete: device levels are COMPLETE after the plugin is back', async (t) => {
    const plugin = await startPlugin(t)
    await register(plugin.address, ['hs07c-1', { cmHandle: 'hs07c-2', trustLevel: 'NONE' }])
    plugin.health = down
    await levelIs('hs07c-1', 'NONE')
    await system.append([heartbeat('hs07c-1', 'NONE'), heartbeat('hs07c-2', 'COMPLETE')])
    await system.settled()
    t.equal(await level('hs07c-1'), 'NONE')
    t.equal(await level('hs07c-2'), 'NONE')
    plugin.health = up
    t.ok(await levelIs('hs07c-1', 'COMPLETE'))
    t.ok(await levelIs('hs07c-2', 'COMPLETE'))
    const expected = ['hs07c-1 COMPLETE>NONE', 'hs07c-1 NONE>COMPLETE', 'hs07c-2 >NONE', 'hs07c-2 NONE>COMPLETE']
    t.same(await noticesOf(system, 'hs07c-', expected.length), expected)
  })

  t.test('a registration by a plugin known as down is a sign of life, with a notice for each change', async (t) => {
    const plugin = await startPlugin(t, down)
    await register(plugin.address, ['life-1', 'life-2'])
    await levelIs('life-1', 'NONE')
    await levelIs('life-2', 'NONE')
    plugin.health = up
    await register(plugin.address, ['life-3'])
    for (const id of ['life-1', 'life-2', 'life-3']) t.ok(await levelIs(id, 'COMPLETE'))
    const expected = ['life-1 COMPLETE>NONE', 'life-1 NONE>COMPLETE', 'life-2 COMPLETE>NONE', 'life-2 NONE>COMPLETE']
    t.same(await noticesOf(system, 'life-', expected.length), expected)
  })

  t.test('two quick changes of a plugin give each handle its notices in order', async (t) => {
    const plugin = await startPlugin(t)
    const ids = Array.from({ length: 50 }, (_, i) => `quick-${i}`)
    await register(plugin.address, ids)
    for (const [health, wanted] of [
      [down, 'NONE'],
      [up, 'COMPLETE'],
      [down, 'NONE'],
    ] as const) {
      plugin.health = health
      await until(`the plugin is ${wanted}`, async () => (await pluginState(system, plugin))?.trustLevel === wanted)
    }
    await noticesOf(system, 'quick-', 0)
    const notices = await until('the last notices', async () => {
      const found = await noticesOf(system, 'quick-', 0)
      return found.filter((notice) => notice.endsWith('>NONE')).length >= 50 && lastOf(found, ids, 'NONE') && found
    })
    for (const id of ids) {
      const own = notices.filter((notice) => notice.startsWith(`${id} `)).map((notice) => notice.split(' ')[1])
      for (const [i, change] of own.entries()) t.equal(change, i % 2 === 0 ? 'COMPLETE>NONE' : 'NONE>COMPLETE')
      t.equal(own.length % 2, 1)
    }
  })

  t.end()
})

/** Is the last notice of each handle one to `level`? */
function lastOf(notices: readonly string[], ids: readonly string[], level: string): boolean {
  return ids.every((id) =>
    notices
      .filter((notice) => notice.startsWith(`${id} `))
      .at(-1)
      ?.endsWith(`>${level}`),
  )
}

/** Notices on handles whose id begins so, sorted by handle, at least `count`. */
async function noticesOf(system: System, prefix: string, count: number): Promise<string[]> {
  return until(`${count} notices of ${prefix}`, async () => {
    const found = (await system.notices()).filter((notice) => notice.startsWith(prefix))
    const handle = (notice: string): string => notice.split(' ')[0] ?? ''
    return found.length >= count && found.sort((a, b) => (handle(a) < handle(b) ? -1 : handle(a) > handle(b) ? 1 : 0))
  })
}

t.test('HS-07 device and plugin levels combined, with keep', async (t) => {
  const system = await startSystem(t, { ...FAST, onDmiRestart: 'keep' })
  const { level, levelIs, register } = system
  const plugin = await startPlugin(t)
  await register(plugin.address, ['dev-1', { cmHandle: 'dev-2', trustLevel: 'NONE' }])
  plugin.health = down
  await levelIs('dev-1', 'NONE')
  await system.append([heartbeat('dev-1', 'NONE'), heartbeat('dev-2', 'COMPLETE')])
  await system.settled()
  t.same([await level('dev-1'), await level('dev-2')], ['NONE', 'NONE'])
  plugin.health = up
  t.ok(await levelIs('dev-2', 'COMPLETE'))
  t.equal(await level('dev-1'), 'NONE')
  await system.append([heartbeat('dev-1', 'COMPLETE')])
  t.ok(await levelIs('dev-1', 'COMPLETE'))
  t.equal(await level('dev-2'), 'COMPLETE')
  const expected = ['dev-1 COMPLETE>NONE', 'dev-1 NONE>COMPLETE', 'dev-2 >NONE', 'dev-2 NONE>COMPLETE']
  t.same(
    await noticesOf(system, 'dev-', expected.length),
    expected,
    'effective changes only; the first of dev-2 is its registration',
  )
})

t.test('HS-04 one plugin hangs, one is too slow, one goes down', async (t) => {
  // The deadline is that of the case: those that are well must not miss it, however busy the machine is.
  const deadlineMs = 2000
  const periodMs = 2000
  const values = { dmiHealthIntervalMs: periodMs + deadlineMs, dmiHealthDeadlineMs: deadlineMs }
  const system = await startSystem(t, values)
  const hang: Health = () => undefined
  const slow: Health = (request, response) => {
    const timer = setTimeout(() => up(request, response), 2900)
    response.once('close', () => clearTimeout(timer))
  }
  const healths = [hang, slow, ...Array.from({ length: 18 }, () => up)]
  const plugins = await Promise.all(healths.map((health) => startPlugin(t, health)))
  for (const [i, { address }] of plugins.entries()) await system.register(address, [`hs04-${i + 1}`])
  await until('each is checked once', () => plugins.every(({ asked }) => asked.length >= 1))
  plugins[2]!.health = down
  const rounds = 3
  await until('each is checked more', () => plugins.every(({ asked }) => asked.length > rounds))
  for (const i of [1, 2, 3]) t.ok(await system.levelIs(`hs04-${i}`, 'NONE'))
  for (let i = 4; i <= 20; i++) t.equal(await system.level(`hs04-${i}`), 'COMPLETE')
  t.same(await system.notices('hs04-3'), ['hs04-3 COMPLETE>NONE'])
  const hanging = plugins[0]!.asked.length
  for (const [i, { asked, mostAtOnce }] of plugins.entries()) {
    t.equal(mostAtOnce.requests, 1, `checks of plugin ${i + 1} do not overlap`)
    t.ok(asked.length >= hanging - 1, `plugin ${i + 1} does not wait for it: ${asked.length} checks`)
  }
})

t.test('HS-06 a connection reset once is tried again, and a closed door is seen', async (t) => {
  // In full the plugin closes idle connections just when it is checked.
  const system = await startSystem(t, inFull({ dmiHealthIntervalMs: 30_000, dmiHealthDeadlineMs: 2000 }, FAST))
  let resets = 0
  const reset: Health = (request, response) => {
    if (plugin.asked.length % 2 === 1) {
      resets++
      request.socket.resetAndDestroy()
    } else up(request, response)
  }
  const plugin = await startPlugin(t, reset, inFull(30_000, 100))
  await system.register(plugin.address, ['hs06'])
  await until('twenty checks', () => resets >= 20, inFull(15 * 60_000, 60_000))
  t.same(await system.notices('hs06'), [], 'no false NONE')
  t.equal(await system.level('hs06'), 'COMPLETE')
  plugin.health = up
  plugin.refuse()
  await until('NONE', async () => (await system.level('hs06')) === 'NONE', inFull(40_000, 30_000))
})

t.test('ME-04 health bodies that nobody reads', async (t) => {
  const values = inFull({ dmiHealthIntervalMs: 100, dmiHealthDeadlineMs: 90 }, FAST)
  const running = spawnPulsefold(t, temporaryFolder(t), { values })
  await running.ready
  const body = Buffer.alloc(200 * 1024, 'x')
  const large: Health = (_request, response) => void response.writeHead(503).end(body)
  const plugins = await Promise.all(Array.from({ length: 50 }, () => startPlugin(t, large)))
  for (const [i, { address }] of plugins.entries()) await running.register(address, [`me04-${i}`])
  const checked = (): number => plugins.reduce((sum, { asked }) => sum + asked.length, 0)
  /** The least of some looks: it goes up and down by 20 MB with each collection. */
  const memory = async (): Promise<number> => {
    let least = Infinity
    for (let looks = 0; looks < 10; looks++) {
      const next = checked() + inFull(1000, 20)
      await until('more checks', () => checked() >= next, 60_000)
      least = Math.min(least, await running.metric('process_resident_memory_bytes'))
    }
    return least
  }
  await until('all warmed up', () => checked() >= inFull(60_000, 500), inFull(600_000, 60_000))
  const [memoryBefore, beganAt] = [await memory(), performance.now()]
  const isLongEnough = (): boolean => performance.now() - beganAt >= inFull(10 * 60_000, 0)
  await until('many checks', () => checked() >= 2000 && isLongEnough(), inFull(11 * 60_000, 60_000))
  const growth = (await memory()) - memoryBefore
  t.comment(`${checked()} checks, ${Math.round(growth / 1024 / 1024)} MB more`)
  for (const { mostAtOnce } of plugins) t.ok(mostAtOnce.connections <= 2)
  t.ok(growth < inFull(1, 3) * 30 * 1024 * 1024, `resident memory grew by ${growth} bytes`)
  running.kill('SIGTERM')
  t.equal((await running.ended).code, 0)
})
