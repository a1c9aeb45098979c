import type { Clock } from '../../common/clock.js'
import type { StoreProvider } from '../../state-stores/key-value-store.js'
import type { DeadLetter } from '../ingest/dead-letters.js'
import type { BlockCodec } from '../journal/block-codec.js'
import type { JournalWriter } from '../journal/journal-writer.js'
import type { Log, NewRecord, TopicPartition } from '../log/log.js'
import type { InputRecord, Processor } from '../processor.js'
import type { Turns } from '../turns.js'
import type { OnceWriter } from './once-writer.js'
import type { RestoreProgress } from './restore.js'
import type { RowCaches } from './row-cache.js'
import type { TaskState } from './task-state.js'

/** Points of a task's work, in order; a test may stop the task at any of them. */
export const taskSteps = [
  'folded',
  'outputs acknowledged',
  'store written',
  'changelog written',
  'owner announced',
] as const
export type TaskStep = (typeof taskSteps)[number]

export interface TaskSettings {
  readonly commitIntervalMs: number
  readonly changelogIntervalMs: number
  /** How long the journal is kept: so long its seals are. */
  readonly journalRetentionMs: number
  /** Bytes of RocksDB block cache, a task. */
  readonly blockCacheBytes: number
}

/** What the fold of a command said, and where. */
export interface CommandAnswer {
  readonly commandId: string
  readonly answer: unknown
  readonly offset: number
  readonly failed?: true
}

/** What a task needs around it; everything that touches the outside is here. */
export interface TaskEnvironment {
  readonly processor: Processor
  readonly partition: number
  readonly partitions: number
  /** Of an output topic, which may be others' as well. */
  readonly outputPartitions: (topic: string) => number
  readonly journalTopic: string
  /** The journal's name in what its folds make: where two sites have one each, with the site's. */
  readonly journalName: string
  readonly changelogTopic: string
  readonly digestsTopic: string
  /** Name of the task's store. */
  readonly storeName: string
  /** This process start: who announces itself as owner. */
  readonly instance: string
  readonly log: Log
  readonly clock: Clock
  readonly stores: StoreProvider
  readonly codec: BlockCodec
  readonly settings: TaskSettings
  /** Shared by all tasks of the instance. */
  readonly rowCaches: RowCaches
  /** Writer of a partition of the own journal. */
  readonly journalWriter: (partition: number) => JournalWriter
  /** Appends to an output topic, in order; resolves when acknowledged. */
  readonly sendOutput: (to: TopicPartition, record: NewRecord) => Promise<unknown>
  /** Shared by all tasks of the instance: outputs declared `once` go by it. */
  readonly onceWriter: OnceWriter
  /** Keeps its id with the group, for the task's next owner; empty: none. Errors: WRITER_FENCED when there is one. */
  keepOnceWriter(id: string, offset: number): Promise<void>
  /** Ends what the former owner has under way by the writer that it kept; it begins nothing more. */
  fenceOnceWriter(): Promise<void>
  /** For what can wait a little: resolves when not too much waits to be folded, at the latest in half a second, or `atMostMs`. */
  giveWay(signal: AbortSignal, atMostMs?: number): Promise<void>
  /** Much waits to be folded. */
  isBehind(): boolean
  /** When to do what holds the event loop; shared by all tasks of the instance. */
  readonly turns: Turns
  /** The fold wants to know when its inputs are taken in as of this journal time. */
  askIntake(asOf: number): void
  sendDeadLetter(letter: DeadLetter, original: InputRecord): Promise<unknown>
  onAnswer(answered: CommandAnswer): void
  /** The running task has failed for good. */
  onFailed(error: Error): void
  readonly observer: TaskObserver
  /** Tests and simulations: waits here, for ever when the task shall have died there. */
  readonly probe?: (step: TaskStep, partition: number) => Promise<void>
}

/** Metrics and log lines of a task. */
export interface TaskObserver {
  onState(state: TaskState, reason: string): void
  onFolded(entries: number): void
  onOutput(topic: string, times: number): void
  onCount(counter: string, label: string, times: number): void
  onCommit(operations: number, durationMs: number): void
  onChangelog(records: number): void
  onRestore(progress: RestoreProgress): void
  onDeadlineFired(): void
  onEffectPerformed(kind: string, durationMs: number): void
  onSetAside(reason: string, movedTo: string): void
  onError(error: Error): void
}
