import type { Act } from './ingest/sources/register.js'
import type { RestartResult, SourceView } from './ingest/sources/sources.js'
import type { Log, TopicPartition } from './log/log.js'
import type { EventPosition, JournalEvent, Original, Processor, Query } from './processor.js'
import type { RestoreStatus } from './task/restore-meter.js'

export type { RestartResult, SourceView } from './ingest/sources/sources.js'

/** A journal position as clients see it: `topic/partition/offset`. */
export interface Position {
  readonly topic: string
  readonly partition: number
  readonly offset: number
}

/** From which copy an answer comes, and how fresh it is. */
export interface Provenance {
  readonly position: Position
  readonly role: 'active' | 'standby'
  /** ms since the answering store was last known to stand at the journal's end. */
  readonly stalenessMs: number
}

/** What a caller may demand of an answer; what can't be met in time is `notUpToPosition` or `tooStale`. */
export interface Demand {
  /** Position to be folded first, for the partitions named. */
  readonly minPositions?: readonly Position[]
  readonly maxStalenessMs?: number
  /** Only the live task of the owner may answer, no standby. */
  readonly role?: 'active'
  /** Aborted: nobody waits for the answer any more; the query may then reject with its reason. Asked for only where it is needed. */
  readonly signal?: () => AbortSignal
}

/** Success, or why there is none; an expected miss is no exception. (as Kafka Streams' QueryResult) */
export type QueryResult<Result> =
  | ({ readonly ok: true; readonly result: Result } & Provenance)
  | { readonly ok: false; readonly reason: QueryFailure; readonly message: string; readonly retryAfterMs: number }

export type QueryFailure = 'restoring' | 'notOwned' | 'notUpToPosition' | 'tooStale' | 'stopping' | 'storeFailed'

/** An event to append over HTTP; the original goes along, since no topic holds it. */
export interface IngestEvent {
  readonly key: string
  readonly event: JournalEvent
  readonly original: Original | null
  /** Of an operator's act: who does it, and why. */
  readonly actor?: string
  readonly reason?: string
}

export interface CommandOptions {
  /** Names the command: sent again, it gets its first answer. */
  readonly commandId: string
  readonly actor?: string
  readonly reason?: string
  readonly timeoutMs: number
  /** Aborted: nobody waits for the answer any more; the command may then reject with its reason, and be done yet. */
  readonly signal?: AbortSignal
}

/**
 * What became of a command: its fold's answer; or the outcome is open (ask again with the same id), it was refused unheard,
 * or its fold failed (a mistake of ours: nothing changed, the command is among the dead letters).
 */
export type CommandResult<Answer> =
  | { readonly ok: true; readonly answer: Answer; readonly position: Position }
  | {
      readonly ok: false
      readonly reason: 'outcomeOpen' | 'unavailable' | 'failed'
      readonly message: string
      readonly retryAfterMs: number
    }

export interface Readiness {
  readonly ready: boolean
  /** In words, empty when ready. */
  readonly reasons: readonly string[]
  /** Tasks and standbys that do not have their state yet. */
  readonly restoring: readonly TaskRestore[]
}

export interface TaskRestore extends RestoreStatus {
  readonly domain: string
  readonly partition: number
  readonly role: Provenance['role']
}

/** The running topology as the HTTP layer and the commands see it; the same embedded, on Kafka and over instances. */
export interface Streams {
  readonly processors: readonly Processor[]
  readonly log: Log
  /** Topic of a domain's journal, and its number of partitions. */
  journal(domain: string): { readonly topic: string; readonly partitions: number }
  /** Asks the owner of `key`. */
  query<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    key: string,
    args: Arguments,
    demand?: Demand,
  ): Promise<QueryResult<Result>>
  /** Asks one partition's owner. */
  queryPartition<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    partition: number,
    args: Arguments,
    demand?: Demand,
  ): Promise<QueryResult<Result>>
  /** Asks every partition; results in the order of partitions. */
  queryAll<Arguments, Result>(
    domain: string,
    query: Query<Arguments, Result>,
    args: Arguments,
    demand?: Demand,
  ): Promise<readonly QueryResult<Result>[]>
  /**
   * Appends to the journal; resolves when durable, with a position for each event, in order. Rejects with LogError, after 10 s
   * with LOG_UNAVAILABLE: some may then be there.
   */
  ingest(domain: string, events: readonly IngestEvent[]): Promise<readonly (Position & EventPosition)[]>
  /** Appends a command to the partition of `key` (or the partition given) and waits for what its fold says. */
  command<Answer>(
    domain: string,
    to: { readonly key: string } | { readonly partition: number },
    event: JournalEvent,
    options: CommandOptions,
  ): Promise<CommandResult<Answer>>
  readiness(): Readiness
  /** Partitions of input topics that this instance reads. */
  sources(): readonly SourceView[]
  /** An operator's act: a stopped source is read from its log start on, whichever instance owns it. Errors: those of the log. */
  restartSource(source: TopicPartition, act: Act): Promise<RestartResult>
}
