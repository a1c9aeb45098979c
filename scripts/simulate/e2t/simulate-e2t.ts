import { setMaxListeners } from 'node:events'
import { sleep } from '../../../common/clock.js'
import type { Clock } from '../../../common/clock.js'
import { httpClient } from '../http-client.js'
import type { HttpClient } from '../http-client.js'
import { seededRandom } from '../../../common/random.js'
import { drawn } from '../random.js'
import type { E2tReport, Finding } from './report.js'
import { kubernetesDouble } from './kubernetes.js'
import type { KubernetesDouble } from './kubernetes.js'
import { routingManagerDouble } from './routing-manager.js'
import type { RoutingManagerDouble } from './routing-manager.js'
import { Terminations } from './terminations.js'
import type { Termination } from './terminations.js'

export interface E2tOptions {
  readonly url: string
  readonly ric: string
  readonly instances: number
  readonly ransPerInstance: number
  /** Instances that die, stall for a third of the time-out, and restart. */
  readonly deaths: number
  readonly stalls: number
  readonly restarts: number
  /** Ports of the doubles; the service is set to call them. */
  readonly routingManagerPort: number
  readonly kubernetesPort: number
  readonly routingManagerFails: boolean
  readonly kubernetesFails: boolean
  /** Of the service, ms. */
  readonly timeoutMs: number
  readonly delayMs: number
  readonly seed: number
}

interface Run {
  readonly options: E2tOptions
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly http: HttpClient
  readonly all: readonly Termination[]
  readonly terminations: Terminations
  readonly routingManager: RoutingManagerDouble
  readonly kubernetes: KubernetesDouble
  readonly findings: Finding[]
}

const PATIENCE_MS = 10_000
const POLL_MS = 20

/** Plays E2 terminations, a Routing Manager and a Kubernetes API to a running service, and compares its answers with what should be. */
export async function simulateE2t(
  options: E2tOptions,
  { clock, signal: interrupted }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<E2tReport> {
  const ended = new AbortController()
  const signal = AbortSignal.any([interrupted, ended.signal])
  // Each termination waits by it.
  setMaxListeners(0, signal)
  const routingManager = await routingManagerDouble(options.routingManagerPort)
  const kubernetes = await kubernetesDouble(options.kubernetesPort)
  const all = terminationsOf(options)
  for (const { podName } of all) kubernetes.pods.set(podName, `uid-of-${podName}`)
  const http = httpClient(options.url, clock, signal)
  const terminations = new Terminations({ ...options, clock, signal, terminations: all })
  const run: Run = { options, clock, signal, http, all, terminations, routingManager, kubernetes, findings: [] }
  try {
    await register(run)
    const killedAfterMs = await befall(run)
    await compareEnd(run)
    return {
      options,
      findings: run.findings,
      killedAfterMs,
      inits: terminations.inits,
      calls: [...routingManager.calls],
    }
  } finally {
    ended.abort()
    await terminations.close()
    await http.close()
    routingManager.close()
    kubernetes.close()
  }
}

function terminationsOf({ ric, instances, ransPerInstance, seed }: E2tOptions): Termination[] {
  return Array.from({ length: instances }, (_, i) => ({
    address: `10.${seed % 250}.${i >> 8}.${i & 255}:38000`,
    podName: `e2term-${ric.toLowerCase()}-${i}`,
    ranNames: Array.from({ length: ransPerInstance }, (_, j) => `gnb_${i}_${j}`),
    state: 'alive' as const,
    answeredAt: 0,
    isAsked: false,
  }))
}

async function register(run: Run): Promise<void> {
  const { all, terminations } = run
  await Promise.all(all.map((termination) => terminations.start(termination)))
  await expect(run, 'instances are listed', all.length, async () => (await listed(run)).size)
  await Promise.all(all.map((termination) => terminations.setUp(termination)))
  const rans = all.reduce((sum, { ranNames }) => sum + ranNames.length, 0)
  await expect(run, 'RANs are connected', rans, async () => (await states(run)).filter(isConnected).length)
  for (const [address, ranNames] of await listed(run)) {
    const expected = all.find((termination) => termination.address === address)?.ranNames.length ?? 0
    if (ranNames.length !== expected) note(run, `RANs of ${address}`, expected, ranNames.length)
  }
}

/** Some die, some stall, some restart, all at once; answers how long after its last answer each dead one was gone, ms. */
async function befall(run: Run): Promise<readonly number[]> {
  const { options, clock, signal, all, terminations, routingManager, kubernetes } = run
  const { deaths, stalls, restarts, timeoutMs, delayMs, seed } = options
  const chosen = drawn(seededRandom(seed), deaths + stalls + restarts, all.length).flatMap((i) => all[i] ?? [])
  const [dying, stalling] = [chosen.slice(0, deaths), chosen.slice(deaths, deaths + stalls)]
  const restarting = chosen.slice(deaths + stalls)
  if (options.routingManagerFails) routingManager.mode = 'failing'
  if (options.kubernetesFails) kubernetes.mode = 'failing'
  for (const termination of dying) termination.state = 'dead'
  for (const termination of stalling) termination.state = 'stalling'
  const back = sleep(clock, timeoutMs / 3, signal).then(() => {
    for (const termination of stalling) termination.state = 'alive'
  })
  await Promise.all(restarting.map((termination) => terminations.start(termination)))
  const ages = await Promise.all(dying.map((termination) => goneAfter(run, termination)))
  await back
  routingManager.mode = 'well'
  kubernetes.mode = 'well'
  const gone = ages.filter((age) => age !== null)
  note(run, 'dead instances are gone', deaths, gone.length)
  const [least, most] = [Math.min(...gone), Math.max(...gone)]
  if (gone.length > 0 && least <= timeoutMs)
    note(run, 'no kill before the time-out', `> ${timeoutMs} ms`, `${least} ms`)
  // Looked at from outside: the answer's way, one tick, and the next look.
  const bound = timeoutMs + 2 * delayMs + 500
  if (gone.length > 0 && most > bound) note(run, 'no kill later than', `${bound} ms`, `${most} ms`)
  const left = new Set(all.filter(({ state }) => state === 'alive').map(({ address }) => address))
  await sleep(clock, 2 * timeoutMs, signal)
  await expect(
    run,
    'living instances stay',
    left.size,
    async () => [...(await listed(run)).keys()].filter((a) => left.has(a)).length,
  )
  const lost = [...dying, ...restarting].flatMap(({ ranNames }) => ranNames)
  const isLost = new Set(lost)
  await expect(run, 'RANs of dead and restarted instances are disconnected', lost.length, async () => {
    return (await states(run)).filter((state) => !isConnected(state) && isLost.has(state.inventoryName)).length
  })
  return gone
}

async function goneAfter(run: Run, { address, answeredAt }: Termination): Promise<number | null> {
  const { clock, signal } = run
  while (!signal.aborted && clock.monotonic() - answeredAt < PATIENCE_MS + 5000) {
    // An entry stays listed while the Routing Manager has not been told; its RANs are gone from it at once.
    const ranNames = (await listed(run)).get(address)
    if (ranNames === undefined || ranNames.length === 0) return Math.round(clock.monotonic() - answeredAt)
    await sleep(clock, POLL_MS, signal)
  }
  return null
}

async function compareEnd(run: Run): Promise<void> {
  const { routingManager, kubernetes, all, http, options } = run
  const isCalled = routingManager.calls.size > 0
  if (isCalled) {
    const owed = async (): Promise<number> => ((await http.ask('GET', '/ops/routing-manager')).body as unknown[]).length
    await expect(run, 'calls owed to the Routing Manager', 0, owed)
    const wrong = async (): Promise<number> => {
      const told = routingManager.instances
      const known = await listed(run)
      const isSame = ([address, ranNames]: [string, readonly string[]]): boolean =>
        told.get(address)?.size === ranNames.length && ranNames.every((ran) => told.get(address)?.has(ran))
      return [...known].filter((one) => !isSame(one)).length + [...told.keys()].filter((a) => !known.has(a)).length
    }
    await expect(run, 'instances that the Routing Manager sees otherwise', 0, wrong)
  } else {
    note(
      run,
      'the Routing Manager was called',
      `at port ${routingManager.port}`,
      'no call: set routingManagerUrl to it',
    )
  }
  if (kubernetes.requests > 0) {
    const dead = all.filter(({ state }) => state === 'dead').map(({ podName }) => podName)
    await expect(run, 'pods deleted', dead.length, () => Promise.resolve(kubernetes.deleted.length))
    note(run, 'deleted pods', dead.sort().join(' '), [...kubernetes.deleted].sort().join(' '))
  } else if (options.kubernetesFails) {
    note(run, 'Kubernetes was called', `at port ${kubernetes.port}`, 'no call: set kubernetesNamespace and KUBECONFIG')
  }
  const selection = await http.ask('GET', `/ric/${options.ric}/v1/e2t/selection`)
  note(run, 'selection of an instance', 200, selection.status)
}

interface State {
  readonly inventoryName: string
  readonly connectionStatus?: string
}

const isConnected = ({ connectionStatus }: State): boolean => connectionStatus === 'CONNECTED'

async function states({ http, options }: Run): Promise<readonly State[]> {
  const mine = await http.expect(200, 'GET', `/ric/${options.ric}/v1/nodeb/states`)
  return mine.body as readonly State[]
}

async function listed({ http, options }: Run): Promise<Map<string, readonly string[]>> {
  const { body } = await http.expect(200, 'GET', `/ric/${options.ric}/v1/e2t/list`)
  const list = body as readonly { readonly e2tAddress: string; readonly ranNames: readonly string[] }[]
  return new Map(list.map(({ e2tAddress, ranNames }) => [e2tAddress, ranNames]))
}

/** Asks until the answer is as expected, for some seconds; notes what it was in the end. */
async function expect(run: Run, what: string, expected: number, ask: () => Promise<number>): Promise<void> {
  const { clock, signal } = run
  const started = clock.monotonic()
  let actual = await ask()
  while (actual !== expected && !signal.aborted && clock.monotonic() - started < PATIENCE_MS) {
    await sleep(clock, POLL_MS, signal)
    actual = await ask()
  }
  note(run, what, expected, actual)
}

function note({ findings }: Run, what: string, expected: string | number, actual: string | number): void {
  findings.push({ what, expected: String(expected), actual: String(actual) })
}
