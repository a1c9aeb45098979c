import type { Query } from '../../../topology/processor.js'
import { ClusterStreams } from '../../../topology/cluster/cluster-streams.js'
import { Peers } from '../../../topology/cluster/peers.js'
import { countingProcessor } from '../../../topology/counting-processor.js'
import { partitionOf } from '../../../topology/partitioner.js'
import type { CommandResult, Demand, Position, QueryResult } from '../../../topology/streams.js'
import { JOURNAL } from '../../../topology/system/counting-run.js'
import type { TestCluster, TestInstance } from '../../../topology/system/test-cluster.js'
import type { TestNetwork } from '../../../topology/system/test-network.js'
import { PARTITIONS } from './story.js'
import type { Act, DemandKind } from './story.js'

/** One question about one partition, and what came of it. Orders count all begins and ends of calls. */
export interface Asked {
  readonly key: string
  readonly partition: number
  readonly demand: Demand
  readonly begun: number
  readonly ended: number
  readonly begunMs: number
  /** Where the journal ended when the answer was there. */
  readonly journalEnd: number
  readonly result: QueryResult<number>
}

export interface Commanded {
  readonly id: string
  readonly result: CommandResult<unknown>
}

/** An event posted over HTTP; each has a mode of its own, by which it is known again in a journal. */
export interface Posted {
  readonly mode: string
  readonly key: string
  /** Undefined: not acknowledged. */
  position?: { readonly partition: number; readonly offset: number; readonly index: number }
}

/** `count`, as another instance may be asked it among others. */
const count: Query<string, number> = { ...(countingProcessor.queries[0] as Query<string, number>) }
const COMMAND_TIMEOUT_MS = 30_000
const FRESH_MS = 300

/** All clients of the cluster: what they asked, gave and were told. */
export class Clients {
  readonly asked: Asked[] = []
  readonly commanded: Commanded[] = []
  readonly posted: Posted[] = []
  /** In the order of events, for the trace. */
  readonly trace: string[] = []
  readonly #cluster: TestCluster
  readonly #network: TestNetwork
  readonly #streams = new Map<TestInstance, ClusterStreams>()
  readonly #open = new Map<string, Extract<Act, { kind: 'command' }>>()
  /** Partition → the last position that a client was told of what it wrote. */
  readonly #written = new Map<number, Position>()
  #order = 0

  constructor(cluster: TestCluster, network: TestNetwork) {
    this.#cluster = cluster
    this.#network = network
  }

  streams(instance: TestInstance): ClusterStreams {
    const { application, process } = instance
    const { clock } = process
    const onError = (): void => undefined
    const peers = new Peers({ transport: this.#network.transport(process), clock, onError })
    const streams =
      this.#streams.get(instance) ??
      new ClusterStreams({ local: application, directory: application.directory, peers, clock })
    this.#streams.set(instance, streams)
    return streams
  }

  ask(instance: TestInstance, key: string, kind: DemandKind): void {
    const partition = partitionOf(key, PARTITIONS)
    const demand = this.#demand(kind, partition)
    this.#call(instance, () => this.streams(instance).query('counting', count, key, key, demand), `ask ${key} ${kind}`)
      .then(([result, times]) => this.#answered(key, partition, demand, result, times))
      .catch(this.#failed)
  }

  askAll(instance: TestInstance, key: string): void {
    this.#call(instance, () => this.streams(instance).queryAll('counting', count, key), `ask all ${key}`)
      .then(async ([results, times]) => {
        for (const [partition, result] of results.entries()) await this.#answered(key, partition, {}, result, times)
      })
      .catch(this.#failed)
  }

  post(instance: TestInstance, key: string): void {
    const mode = `at${this.posted.length}`
    const posted: Posted = { mode, key }
    this.posted.push(posted)
    const event = { type: 'Counted', data: { key, mode } }
    const ingest = (): ReturnType<ClusterStreams['ingest']> =>
      this.streams(instance).ingest('counting', [{ key, event, original: null }])
    this.#call(instance, ingest, `post ${key} ${mode}`)
      .then(([[position]]) => {
        if (position === undefined) return
        posted.position = position
        this.#wrote(position)
      })
      .catch(() => undefined)
  }

  command(instance: TestInstance, command: Extract<Act, { kind: 'command' }>): void {
    const { id, key, mode } = command
    if (!this.#open.has(id) && this.commanded.some((given) => given.id === id)) return
    const first = this.#open.get(id) ?? command
    this.#open.set(id, first)
    const event = { type: 'Counted', data: { key: first.key, mode: first.mode } }
    const options = { commandId: id, actor: 'tester', timeoutMs: COMMAND_TIMEOUT_MS }
    this.#call(
      instance,
      () => this.streams(instance).command('counting', { key: first.key }, event, options),
      `command ${id} ${key} ${mode}`,
    )
      .then(([result]) => {
        this.commanded.push({ id, result })
        if (!result.ok && result.reason !== 'failed') return
        this.#open.delete(id)
        if (result.ok) this.#wrote(result.position)
      })
      .catch(this.#failed)
  }

  /** Commands without an answer are given to this instance. */
  repeatCommands(instance: TestInstance): void {
    for (const command of [...this.#open.values()]) this.command(instance, command)
  }

  /** Error of the simulated service itself, which no client may see. */
  failure: unknown
  readonly #failed = (thrown: unknown): void => {
    this.failure ??= thrown
  }

  /** A call of a client: an instance that has ended never answers, a paused one when it goes on. */
  async #call<Result>(
    { process, name }: TestInstance,
    work: () => Promise<Result>,
    what: string,
  ): Promise<[Result, { readonly begun: number; readonly begunMs: number; readonly ended: number }]> {
    const begun = ++this.#order
    const begunMs = this.#cluster.clock.now()
    this.trace.push(`${begunMs} ${begun} ${what} via ${name}`)
    const result = await process.running(work)
    const ended = ++this.#order
    this.trace.push(`${this.#cluster.clock.now()} ${begun} ${JSON.stringify(result)}`)
    return [result, { begun, begunMs, ended }]
  }

  async #answered(
    key: string,
    partition: number,
    demand: Demand,
    result: QueryResult<number>,
    times: { readonly begun: number; readonly begunMs: number; readonly ended: number },
  ): Promise<void> {
    const journalEnd = (await this.#cluster.log.offsets({ topic: JOURNAL, partition })).end
    this.asked.push({ key, partition, demand, result, journalEnd, ...times })
  }

  #demand(kind: DemandKind, partition: number): Demand {
    const written = this.#written.get(partition)
    if (kind === 'active') return { role: 'active' }
    if (kind === 'fresh') return { maxStalenessMs: FRESH_MS }
    return kind === 'own' && written !== undefined ? { minPositions: [written] } : {}
  }

  #wrote({ topic, partition, offset }: Position): void {
    const before = this.#written.get(partition)
    if (before === undefined || before.offset < offset) this.#written.set(partition, { topic, partition, offset })
  }
}
