import type { JournalEvent, Query } from '../processor.js'
import type { CommandOptions, Demand, Provenance, QueryResult, Streams } from '../streams.js'
import type { LocalCommandResult } from './instance-call.js'

/** What one instance does by itself: it never asks another. */
export interface LocalStreams extends Pick<
  Streams,
  'processors' | 'log' | 'journal' | 'ingest' | 'readiness' | 'sources' | 'restartSource'
> {
  /** As `active` the live task answers that is here, as `standby` whatever copy is. */
  queryLocal<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    partition: number,
    args: Arguments,
    demand: Demand,
    role: Provenance['role'],
  ): Promise<QueryResult<Result>>
  /** Taken where the partition's live task is here. */
  commandLocal(
    domain: string,
    partition: number,
    event: JournalEvent,
    options: CommandOptions,
  ): Promise<LocalCommandResult>
}
