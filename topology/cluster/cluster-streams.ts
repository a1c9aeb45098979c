import { partitionOf } from '../partitioner.js'
import type { EventPosition, JournalEvent, Processor, Query } from '../processor.js'
import type {
  CommandOptions,
  CommandResult,
  Demand,
  IngestEvent,
  Position,
  QueryResult,
  Readiness,
  RestartResult,
  SourceView,
  Streams,
} from '../streams.js'
import { askPartition, CALL_MS } from './ask-partition.js'
import type { Instances } from './ask-partition.js'
import { commandPartition } from './command-partition.js'
import { LookUps } from './look-ups.js'

/**
 * The running topology over all instances: each may be asked anything. What is not here is asked of the instance that has
 * it, in one hop; events are appended from anywhere. (as Kafka Streams' interactive queries with `application.server`)
 */
export class ClusterStreams implements Streams {
  readonly #instances: Instances

  constructor(instances: Omit<Instances, 'lookUps'>) {
    this.#instances = { ...instances, lookUps: new LookUps(instances.peers, CALL_MS) }
  }

  get processors(): readonly Processor[] {
    return this.#instances.local.processors
  }
  get log(): Streams['log'] {
    return this.#instances.local.log
  }

  journal(domain: string): { readonly topic: string; readonly partitions: number } {
    return this.#instances.local.journal(domain)
  }

  query<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    key: string,
    args: Arguments,
    demand?: Demand,
  ): Promise<QueryResult<Result>> {
    const { partitions } = this.journal(domain)
    return this.queryPartition(domain, query, partitionOf(key, partitions), args, demand)
  }

  queryPartition<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    partition: number,
    args: Arguments,
    demand: Demand = {},
  ): Promise<QueryResult<Result>> {
    const answer = askPartition(this.#instances, { domain, query, partition, args, demand })
    return answer as Promise<QueryResult<Result>>
  }

  queryAll<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    args: Arguments,
    demand?: Demand,
  ): Promise<readonly QueryResult<Result>[]> {
    const partitions = Array.from({ length: this.journal(domain).partitions }, (_, partition) => partition)
    return Promise.all(partitions.map((partition) => this.queryPartition(domain, query, partition, args, demand)))
  }

  ingest(domain: string, events: readonly IngestEvent[]): Promise<readonly (Position & EventPosition)[]> {
    return this.#instances.local.ingest(domain, events)
  }

  async command<Answer>(
    domain: string,
    to: { readonly key: string } | { readonly partition: number },
    event: JournalEvent,
    options: CommandOptions,
  ): Promise<CommandResult<Answer>> {
    const partition = 'partition' in to ? to.partition : partitionOf(to.key, this.journal(domain).partitions)
    const result = await commandPartition(this.#instances, { domain, partition, event, options })
    return result as CommandResult<Answer>
  }

  sources(): readonly SourceView[] {
    return this.#instances.local.sources()
  }

  restartSource(...act: Parameters<Streams['restartSource']>): Promise<RestartResult> {
    return this.#instances.local.restartSource(...act)
  }

  readiness(): Readiness {
    return this.#instances.local.readiness()
  }
}
