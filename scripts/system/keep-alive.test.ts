import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { systemClock } from '../../common/clock.js'
import { Terminations } from '../simulate/e2t/terminations.js'
import type { Termination } from '../simulate/e2t/terminations.js'
import { down, startPlugin, up } from './fixtures.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess, SpawnOptions } from './real-process.js'
import { until } from './until.js'

const RIC = 'AACCE'

/** A service as a process of its own, with ten E2 terminations that have a RAN each. */
async function running(
  t: Test,
  options: SpawnOptions = {},
): Promise<{ service: RealProcess; all: readonly Termination[] }> {
  const service = spawnPulsefold(t, t.testdir(), options)
  const url = await service.ready
  const all = Array.from({ length: 10 }, (_, i): Termination => {
    return { address: `e2t-${i}`, podName: '', ranNames: [`ran-${i}`], state: 'alive', answeredAt: 0, isAsked: false }
  })
  const ended = new AbortController()
  const terminations = new Terminations({ url, ric: RIC, clock: systemClock, signal: ended.signal, terminations: all })
  t.teardown(async () => {
    ended.abort()
    await terminations.close()
  })
  await Promise.all(all.map((one) => terminations.start(one)))
  await until('all are registered', async () => (await list(service)).length === 10)
  for (const one of all) await terminations.setUp(one)
  await until('all RANs are connected', async () => (await connected(service)).length === 10)
  // Silence counts from the first request of a term: a pause before it would be none.
  await until('a request is out', async () => (await freshStarts(service, 'term')) > 0)
  return { service, all }
}

function freshStarts(service: RealProcess, cause: 'term' | 'gap'): Promise<number> {
  return service.metric('pulsefold_fold_events_total', 'fresh_starts', cause)
}

async function list(service: RealProcess): Promise<readonly string[]> {
  const instances = await service.json<readonly { e2tAddress: string }[]>('/v1/e2t/list')
  return instances.map(({ e2tAddress }) => e2tAddress).sort()
}

async function connected(service: RealProcess): Promise<readonly string[]> {
  const states = await service.json<readonly { inventoryName: string; connectionStatus?: string }[]>('/v1/nodeb/states')
  return states.filter((one) => one.connectionStatus === 'CONNECTED').map(({ inventoryName }) => inventoryName)
}

/** Loaded before the program, it keeps the event loop busy when a signal comes: all else of the process goes on. */
const BLOCKS = "process.on('SIGUSR2', () => { for (const end = performance.now() + 3000; performance.now() < end;); })"

const pauses: Readonly<Record<string, (service: RealProcess, during: () => void) => Promise<unknown>>> = {
  async 'stopped by a signal'(service, during) {
    service.kill('SIGSTOP')
    during()
    await pause(3000)
    service.kill('SIGCONT')
  },
  async 'whose event loop is blocked'(service, during) {
    service.kill('SIGUSR2')
    during()
    await until('it has been blocked', async () => (await service.metric('pulsefold_pauses_total')) > 0)
  },
}

for (const [how, happens] of Object.entries(pauses)) {
  t.test(`HS-01 a process ${how} for 3 s kills nobody but who has died meanwhile`, async (t) => {
    const nodeFlags = [`--import=data:text/javascript,${encodeURIComponent(BLOCKS)}`]
    const { service, all } = await running(t, { nodeFlags })
    await happens(service, () => {
      const dead = all[7]
      if (dead !== undefined) dead.state = 'dead'
    })
    await until('e2t-7 is gone', async () => !(await list(service)).includes('e2t-7'))
    const nine = all.flatMap(({ address }) => (address === 'e2t-7' ? [] : [address]))
    t.strictSame(await list(service), nine)
    t.equal((await connected(service)).length, 9)
    t.ok((await freshStarts(service, 'gap')) >= 1, 'silence counts afresh after the pause')
    t.equal(await service.metric('pulsefold_fold_events_total', 'instance_moves', 'fellSilent'), 1)
    t.ok((await service.metric('pulsefold_pauses_total')) >= 1, 'the pause is counted')
    service.kill('SIGTERM')
    const { log } = await service.ended
    t.ok(
      log.some((line) => line.includes('the process was paused')),
      'and logged',
    )
  })
}

t.test('a Red Button over HTTP, twice: the second answers at once', async (t) => {
  const { service } = await running(t)
  const put = { method: 'PUT' } as const
  const first = service.ask('/v1/nodeb/shutdown', put)
  t.equal((await first).status, 204)
  t.strictSame(await connected(service), [])
  t.equal((await service.ask('/v1/nodeb/shutdown', put)).status, 204)
  t.equal((await list(service)).length, 10)
})

t.test('HS-21 while a plugin with 30,000 devices flaps beside them, no E2T instance is removed', async (t) => {
  const count = 30_000
  const { service, all } = await running(t, {
    values: { dmiHealthIntervalMs: 1000, dmiHealthDeadlineMs: 500, keepAliveProfile: 'upstream' },
  })
  const plugin = await startPlugin(t)
  const ids = Array.from({ length: count }, (_, i) => `dev-${i}`)
  await service.register(plugin.address, ids)
  const broadcasts = (): Promise<number> => service.metric('pulsefold_fold_events_total', 'counter="ticks"')
  for (const [turn, health] of [down, up, down].entries()) {
    const before = await broadcasts()
    plugin.health = health
    const told = async (): Promise<boolean> =>
      (await service.metric('pulsefold_output_records_total', 'ncmp-inventory-events')) >= count * (turn + 1)
    await until('all devices have changed', told, 120_000)
    await until('ticks go on', async () => (await broadcasts()) > before)
  }
  t.equal(await service.metric('pulsefold_fold_events_total', 'instance_moves', 'fellSilent'), 0)
  t.strictSame(await list(service), all.map(({ address }) => address).sort())
  t.equal((await connected(service)).length, all.length)
})
