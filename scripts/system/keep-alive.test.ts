import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { systemClock } from '../../common/clock.js'
import { Terminations } from '../simulate/e2t/terminations.js'
import type { Termination } from '../simulate/e2t/terminations.js'
import { spawnPulsefold } from './real-process.js'
import type { RealProcess } from './real-process.js'
import { until } from './until.js'

const RIC = 'AACCE'

/** A service as a process of its own, with ten E2 terminations that have a RAN each. */
async function running(t: Test): Promise<{ service: RealProcess; all: readonly Termination[] }> {
  const service = spawnPulsefold(t, t.testdir())
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

t.test('HS-01 a process stopped for 3 s kills nobody but who has died meanwhile', async (t) => {
  const { service, all } = await running(t)
  service.kill('SIGSTOP')
  const dead = all[7]
  if (dead !== undefined) dead.state = 'dead'
  await pause(3000)
  service.kill('SIGCONT')
  const goneAt = await until('e2t-7 is gone', async () => !(await list(service)).includes('e2t-7') && performance.now())
  t.ok(goneAt > 0)
  const nine = all.flatMap(({ address }) => (address === 'e2t-7' ? [] : [address]))
  t.strictSame(await list(service), nine)
  t.equal((await connected(service)).length, 9)
  t.ok((await freshStarts(service, 'gap')) >= 1, 'the pause is counted')
  t.equal(await service.metric('pulsefold_fold_events_total', 'instance_moves', 'fellSilent'), 1)
})

t.test('a Red Button over HTTP, twice: the second answers at once', async (t) => {
  const { service } = await running(t)
  const put = { method: 'PUT' } as const
  const first = service.ask('/v1/nodeb/shutdown', put)
  t.equal((await first).status, 204)
  t.strictSame(await connected(service), [])
  t.equal((await service.ask('/v1/nodeb/shutdown', put)).status, 204)
  t.equal((await list(service)).length, 10)
})
