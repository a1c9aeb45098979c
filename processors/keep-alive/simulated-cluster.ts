import { seededRandom } from '../../common/random.js'
import type { Random } from '../../common/random.js'
import { messageType } from '../../schemas/keep-alive/message-types.js'
import type { MessageName } from '../../schemas/keep-alive/message-types.js'
import type { Log } from '../../topology/log/log.js'
import type { Effector, InputRecord } from '../../topology/processor.js'
import { logOf, TestCluster } from '../../topology/system/test-cluster.js'
import type { TestInstance } from '../../topology/system/test-cluster.js'
import { ROUTING_MANAGER_ATTEMPT, ROUTING_MANAGER_CALL } from './effect-requests.js'
import type { RoutingManagerRequest } from './effect-requests.js'
import { keepAlive } from './keep-alive.js'
import type { Outcome, Termination } from './simulated-world.js'
import { RIC, testSettings } from './test-kit.js'

/**
 * As the simulated world, on the whole engine: two instances of a cluster on one log, of which each may stand still, lose its
 * partition meanwhile, be killed and missed late, stop and start again; ingest may stall, the log take nothing for a while, and
 * messages be lost, late or doubled. Kills are judged by what stands in the topics.
 */

const { keepAliveResponseTimeoutMs: TIMEOUT_MS, keepAliveDelayMs: DELAY_MS } = testSettings
const RUN_MS = 15_000
/** The last disturbance ends so long before the end of a run. */
const QUIET_MS = 5500
const STEP_MS = 25
const NAMES = ['a', 'b'] as const

const BEFALLS = ['pause', 'pause and lose', 'kill', 'stop'] as const
type Befalls = (typeof BEFALLS)[number]
const DISTURBANCES = [...BEFALLS, 'pause', 'ingest stalls', 'log takes nothing'] as const
type Disturbance = (typeof DISTURBANCES)[number]

export class SimulatedCluster {
  readonly #random: Random
  readonly #cluster: TestCluster
  /** Nothing befalls them now. */
  readonly #running = new Map<string, TestInstance>()
  readonly #terminations: readonly Termination[]
  /** What has begun and may take until others go on. */
  readonly #pending: Promise<unknown>[] = []
  #happenings: { readonly at: number; readonly run: () => Promise<void> | void }[] = []
  #answers: { readonly at: number; readonly of: Termination }[] = []
  readonly #sentAt: number[] = []
  readonly #read = new Map<string, number>()
  #ingestStalledUntil = 0
  #logDownUntil = 0
  #disturbedUntil = 0
  #messages = 0
  readonly #faults: { readonly address: string; readonly what: string }[] = []
  readonly #undisturbedAges: number[] = []

  constructor(seed: number) {
    this.#random = seededRandom(seed)
    this.#cluster = new TestCluster({ processors: [this.#processor()], partitions: 1 })
    this.#cluster.wrapLog = (_name, log) => this.#holdingBack(log)
    this.#terminations = Array.from({ length: 2 + this.#upTo(4) }, (_, i) => {
      const kind = this.#random()
      return {
        address: `e2t-${i}`,
        latencyMs: 1 + this.#upTo(300),
        lossShare: kind < 0.25 ? 0.3 * this.#random() : 0,
        diesAt: kind > 0.6 ? 3000 + this.#upTo(RUN_MS - QUIET_MS - 3000) : Infinity,
        answeredAt: [],
        killedAt: 0,
      }
    })
  }

  async run(): Promise<Outcome> {
    await this.#cluster.open()
    for (const name of NAMES) this.#running.set(name, await this.#cluster.start(name))
    for (const { address } of this.#terminations) {
      await this.#send('E2_TERM_INIT', address, { address, fqdn: address, pod_name: '' })
    }
    await this.#cluster.advance(200, STEP_MS)
    for (const termination of this.#terminations) {
      const { address } = termination
      const globalNbId = { plmnId: '02F829', nbId: address }
      await this.#send('E2_SETUP_REQ', address, { e2tAddress: address, ranName: address, globalNbId, nodeType: 'GNB' })
      termination.answeredAt.push(this.#now())
    }
    if (this.#random() < 0.85) this.#planDisturbances()
    while (this.#now() < RUN_MS) await this.#step()
    await Promise.all(this.#pending)
    await this.#cluster.close()
    for (const { address, diesAt, killedAt } of this.#terminations) {
      if (diesAt !== Infinity && killedAt === 0) this.#fault(address, 'died, and was not killed')
    }
    const kills = this.#terminations.filter(({ killedAt }) => killedAt > 0).length
    return { faults: this.#faults, kills, undisturbedAges: this.#undisturbedAges }
  }

  #processor(): ReturnType<typeof keepAlive> {
    const effectors = [ROUTING_MANAGER_CALL, ROUTING_MANAGER_ATTEMPT].map((kind): Effector => ({
      kind,
      deadlineMs: 1000,
      perform({ id, payload }) {
        const { ric, call } = payload as RoutingManagerRequest
        const data = { ric, call, effectId: id, succeeded: true, outcome: 'answered 201' }
        return Promise.resolve({ type: 'RoutingManagerCalled', data })
      },
    }))
    const processor = keepAlive({ settings: testSettings, messagesTopic: 'e2t-messages', ricId: RIC, effectors })
    const inputs = processor.inputs.map((input) => ({
      ...input,
      decode: async (record: InputRecord) => {
        await this.#until(() => this.#ingestStalledUntil)
        return input.decode(record)
      },
    }))
    return { ...processor, inputs }
  }

  /** Appends wait while the log takes nothing. */
  #holdingBack(log: Log): Log {
    const heldBack = async <T>(append: () => Promise<T>): Promise<T> => {
      await this.#until(() => this.#logDownUntil)
      return append()
    }
    return {
      ...logOf(log),
      append: (...args) => heldBack(() => log.append(...args)),
      async writer(transactionalId) {
        const writer = await log.writer(transactionalId)
        return { append: (parts) => heldBack(() => writer.append(parts)), close: () => writer.close() }
      },
    }
  }

  async #until(end: () => number): Promise<void> {
    const { clock } = this.#cluster
    while (clock.monotonic() < end()) await new Promise<void>((resolve) => clock.setTimer(resolve, STEP_MS))
  }

  #planDisturbances(): void {
    for (let left = 1 + this.#upTo(4); left > 0; left--) {
      const kind = DISTURBANCES[this.#upTo(DISTURBANCES.length)] ?? 'pause'
      const at = 1500 + this.#upTo(RUN_MS - QUIET_MS - 5500)
      const until = at + 50 + this.#upTo(4000)
      this.#happenings.push({ at, run: () => this.#disturb(kind, at, until) })
    }
  }

  #disturb(kind: Disturbance, at: number, until: number): void {
    this.#disturbedUntil = Math.max(this.#disturbedUntil, until)
    if (kind === 'ingest stalls') this.#ingestStalledUntil = Math.max(this.#ingestStalledUntil, until)
    else if (kind === 'log takes nothing') this.#logDownUntil = Math.max(this.#logDownUntil, until)
    else {
      const instance = this.#victim()
      if (instance !== undefined) this.#befall(instance, kind, at, until)
    }
  }

  /** The owner more often than not, of those that run. */
  #victim(): TestInstance | undefined {
    const all = [...this.#running.values()]
    const owner = all.find(({ application }) => application.tasks.some(({ state }) => state === 'LIVE'))
    return this.#random() < 0.7 ? owner : all[this.#upTo(all.length)]
  }

  #befall(instance: TestInstance, kind: Befalls, at: number, until: number): void {
    const { name, process } = instance
    this.#running.delete(name)
    // What the group has not heard of for some time it does without.
    const missedAt = at + this.#upTo(until - at)
    if (kind === 'stop') this.#pending.push(instance.stop())
    else process.pause()
    if (kind === 'pause and lose') this.#happen(missedAt, () => void this.#pending.push(process.forget()))
    if (kind === 'kill') this.#happen(missedAt, () => void this.#pending.push(instance.kill()))
    this.#happen(until, async () => {
      if (kind === 'pause' || kind === 'pause and lose') process.resume()
      this.#running.set(name, kind === 'stop' || kind === 'kill' ? await this.#cluster.start(name) : instance)
    })
  }

  #happen(at: number, run: () => Promise<void> | void): void {
    this.#happenings.push({ at, run })
  }

  async #step(): Promise<void> {
    const due = this.#happenings.filter(({ at }) => at <= this.#now())
    this.#happenings = this.#happenings.filter(({ at }) => at > this.#now())
    for (const { run } of due) await run()
    if (due.length > 0) await this.#cluster.settle()
    await this.#answer()
    await this.#cluster.advance(STEP_MS, STEP_MS)
    for (const { timestamp, headers } of await this.#newRecords('e2t-keep-alive-requests')) {
      if (!headers.some(([name]) => name === 'ce_e2t')) this.#sentAt.push(timestamp)
      for (const of of this.#terminations) {
        if (this.#random() < of.lossShare) continue
        this.#answers.push({ at: timestamp + 1 + this.#upTo(of.latencyMs), of })
      }
    }
    for (const { timestamp, value } of await this.#newRecords('ran-connection-events')) {
      const [address, event] = String(value).split('_')
      const of = this.#terminations.find((termination) => termination.address === address)
      if (of !== undefined && event === 'DISCONNECTED') this.#killed(of, timestamp)
    }
  }

  async #answer(): Promise<void> {
    if (this.#now() < this.#logDownUntil) return
    const due = this.#answers.filter(({ at }) => at <= this.#now())
    this.#answers = this.#answers.filter(({ at }) => at > this.#now())
    for (const { of } of due) {
      const { address, diesAt, lossShare, answeredAt } = of
      if (this.#now() >= diesAt || this.#random() < lossShare) continue
      // Delivered twice now and then.
      for (let times = this.#random() < 0.05 ? 2 : 1; times > 0; times--) {
        await this.#send('E2_TERM_KEEP_ALIVE_RESP', address, { address })
      }
      answeredAt.push(this.#now())
    }
  }

  async #send(name: MessageName, source: string, data: object): Promise<void> {
    const headers = Object.entries({
      ce_specversion: '1.0',
      ce_id: String(++this.#messages),
      ce_source: source,
      ce_type: messageType(name),
    }).map(([header, value]) => [header, Buffer.from(value)] as const)
    await this.#cluster.log.append('e2t-messages', 0, [
      { key: null, value: Buffer.from(JSON.stringify(data)), headers },
    ])
  }

  /** Records since the last look, with the time of their append as this world counts it. */
  async #newRecords(topic: string): Promise<Awaited<ReturnType<Log['read']>>['records'][number][]> {
    const { log, clock } = this.#cluster
    const started = clock.now() - clock.monotonic()
    const { records, next } = await log.read({ topic, partition: 0 }, this.#read.get(topic) ?? 0)
    this.#read.set(topic, next)
    return records.map((record) => ({ ...record, timestamp: record.timestamp - started }))
  }

  /** Judges a kill by what stood in the topics when it was told. */
  #killed(termination: Termination, at: number): void {
    const { address, answeredAt, diesAt, lossShare } = termination
    termination.killedAt = at
    const answers = answeredAt.filter((time) => time <= at)
    const wasSilent = answers.some((from, i) => {
      const to = answers[i + 1] ?? at
      const requests = this.#sentAt.filter((time) => time > from && time <= to).length
      return to - from > TIMEOUT_MS && requests >= TIMEOUT_MS / DELAY_MS
    })
    if (!wasSilent) this.#fault(address, `killed at ${at}, and was at no time silent`)
    if (lossShare > 0) return
    const age = at - (answers.at(-1) ?? 0)
    if (diesAt > at) this.#fault(address, `alive, and killed at ${at}, ${age} ms after its last answer`)
    else if (this.#disturbedUntil === 0) this.#undisturbedAges.push(age)
    // A new owner may need some steps to begin, and its first request a tick.
    else if (at - Math.max(at - age, this.#disturbedUntil) > TIMEOUT_MS + 3 * DELAY_MS) {
      this.#fault(address, `dead, and killed only at ${at}, ${age} ms after its last answer`)
    }
  }

  #now(): number {
    return this.#cluster.clock.monotonic()
  }

  #upTo(ms: number): number {
    return Math.floor(this.#random() * ms)
  }

  #fault(address: string, what: string): void {
    this.#faults.push({ address, what })
  }
}
