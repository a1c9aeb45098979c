import type { AvroRecordSchema, RowCodec } from '../schemas/avro.js'
import type { JsonSchema } from '../schemas/json-schema.js'
import type { Headers, LogRecord } from './log/log.js'

/**
 * The processor contract. A domain is one `Processor` value: what it reads, keeps and writes, and the pure functions that
 * fold its journal. Topics, changelog, metric labels, `describe`, the test driver and replay follow from it.
 */

/** An event of a domain's journal: the name of its Avro record, and the record. */
export interface JournalEvent {
  readonly type: string
  readonly data: object
}

/**
 * Where something stands in a journal partition: the record's offset, and the index inside its block of events. Of two sites each
 * numbers its own journal: what must grow over both is made of time.
 */
export interface EventPosition {
  readonly offset: number
  readonly index: number
}

/** A derived, ordered look-up entry; both parts are text, and neither is part of the digest. */
export interface IndexEntry {
  readonly key: string
  readonly value?: string
}

/** Rows of one kind in the domain's store, keyed by text. */
export interface Table<Row> {
  readonly name: string
  readonly codec: RowCodec<Row>
  /** Kept in memory whole on every task; for small tables that every event may need (plugins). */
  readonly resident?: true
  /** `queries`: rows that events hardly ever read again leave the cache to those that each event needs, and have a small one. */
  readonly cachedFor?: 'queries'
  /** Index entries that follow from a row; the engine keeps them in step with it. */
  readonly indexes?: Readonly<Record<string, IndexFunction<Row>>>
}

export interface IndexFunction<Row> {
  entries(key: string, row: Row): readonly IndexEntry[]
}

/** A row that a fold may touch. The engine loads it before the fold runs. */
export interface RowReference {
  readonly table: Table<unknown>
  readonly key: string
}

/** An ordered walk over an index or a table, by key text. `after` excludes, `prefix` bounds. */
export interface ScanRange {
  readonly prefix?: string
  readonly after?: string
  /** Excluded upper bound. */
  readonly before?: string
  readonly limit?: number
}

/** What the engine must load before an event or a deadline is folded. Resident tables need no mention. */
export interface Reads {
  readonly rows: readonly RowReference[]
  /** Entries of an index as they stand just before this event; and, with `thenRows`, the rows that they lead to. */
  readonly scan?: {
    readonly table: Table<unknown>
    readonly index: string
    readonly range: ScanRange
    readonly thenRows?: (entries: readonly IndexEntry[]) => readonly RowReference[]
  }
}

/** An external topic and how its records become journal events. */
export interface Input<Event extends JournalEvent = JournalEvent> {
  readonly topic: string
  /** CloudEvents types that `POST /events` routes here; a trailing `*` matches the rest. */
  readonly types: readonly string[]
  /** Of values in Avro, for the schema registry; absent: it takes none. */
  readonly avro?: AvroRecordSchema
  /** Of the data in JSON, for the schema registry and its readers; `decode` may take more. */
  readonly json?: JsonSchema
  /**
   * Pure but for the schema registry: the same record gives the same result. Throws only what is worth a retry
   * (registry not reachable): the partition then waits; everything wrong with the record is a result.
   */
  decode(record: InputRecord): Decoded<Event> | Promise<Decoded<Event>>
}

/** The record handed to `decode`: read from the topic, or made of a CloudEvent that came over HTTP: that has no timestamp. */
export type InputRecord = Pick<LogRecord, 'key' | 'value' | 'headers'> & { readonly timestamp: number | null }

export type Decoded<Event extends JournalEvent = JournalEvent> =
  | { readonly kind: 'event'; readonly key: string; readonly event: Event }
  /** Not for us and not wrong: counted by reason. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** Goes to the dead letters with the code, or back to the HTTP caller, who is told `more` that is wrong, too. */
  | ({ readonly kind: 'rejected'; readonly more?: readonly DecodeFault[] } & DecodeFault)

/** `field` is the path of what is wrong. */
export interface DecodeFault {
  readonly code: string
  readonly message: string
  readonly field?: string
}

/** A topic written by the fold. Records carry `ce_specversion`, `ce_id` (UUID 5 of the position) and `ce_time` by the engine. */
export interface OutputTopic {
  readonly topic: string
  /** Read as committed records, each appears exactly once over any restarts. Default false: repeats carry the same id. */
  readonly once?: true
  /** Of values in JSON, for the schema registry; absent: they are none. An empty value stands for no data. */
  readonly json?: JsonSchema
  /** Default: the engine's usual retention. */
  readonly retentionMs?: number
}

export interface OutputRecord {
  readonly key: string
  readonly value: string | Buffer
  /** Besides those the engine adds. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** Something to be done to the outside by the effector of a live task; owed until a result with its id is folded. */
export interface EffectRequest {
  /**
   * Unique in its partition over both sites, which number their journals each for itself, and the same again in a replay: derive
   * it from time and position, or from what is known once only.
   */
  readonly id: string
  readonly kind: string
  /** Requests on one target are carried out one at a time, in order. */
  readonly target: string
  /** JSON. */
  readonly payload: unknown
}

/** The event's original, for a dead letter made by a fold: by reference to its source topic, or the bytes themselves. */
export interface Original {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Headers
}

/** Where an event came from: the input topic's partition, or the process that took it over HTTP. */
export interface SourcePosition {
  /** `topic/partition@incarnation`, or `http/<process start>`, or `journal/<partition>` for what a fold sent on. */
  readonly source: string
  readonly offset: number
  readonly index: number
}

/** All that a fold sees and does besides the event. Nothing in it depends on clock, chance, network or commit boundaries. */
export interface FoldContext<Settings = unknown> {
  /** The fold's time: the highest journal timestamp seen so far, ms since 1970. */
  readonly time: number
  readonly partition: number
  readonly position: EventPosition
  readonly source: SourcePosition
  /** Number of the owner's term that this event falls in: another one means that the owner was started anew, or is another. */
  readonly epoch: number
  readonly settings: Settings
  /** Who asked, for commands; absent: anonymous, none. */
  readonly actor: string | undefined
  readonly reason: string | undefined
  /** Rows declared by `reads` (others throw ROW_NOT_DECLARED), and all of a resident table. Never change a row in place. */
  get<Row>(table: Table<Row>, key: string): Row | undefined
  put<Row>(table: Table<Row>, key: string, row: Row): void
  delete(table: Table<unknown>, key: string): void
  /** Rows of a resident table in key order. */
  resident<Row>(table: Table<Row>): Iterable<readonly [key: string, row: Row]>
  /** Entries of the declared scan. */
  readonly scanned: readonly IndexEntry[]
  /**
   * A record to an output topic. `acknowledged`: appended to the own journal once the log has taken the record, so that a fold
   * can tell what was really sent from what was only asked for.
   */
  emit(output: OutputTopic, record: OutputRecord, acknowledged?: JournalEvent): void
  /** An event to the own journal, in the partition of `key`; taken once there, however often this fold is repeated. */
  send(key: string, event: JournalEvent): void
  /** As `send`, to every partition (this one too). */
  broadcast(event: JournalEvent): void
  /** A source record that turned out unacceptable only now; the original goes along, untouched. */
  deadLetter(problem: DeadLetterProblem): void
  /** Asks to be woken at `dueMs` (journal time). The pair (due, id) is the deadline's identity. */
  arm(dueMs: number, id: string): void
  disarm(dueMs: number, id: string): void
  /** The answer to the command that this event is; kept for some minutes for callers that lost it. JSON. */
  answer(value: unknown): void
  request(effect: EffectRequest): void
  /** Withdraws what is owed (its target's wanted end has changed). */
  withdraw(effectId: string): void
  /** Asks to be told, by `inputsTakenIn`, when the journal holds all that stood in the domain's input topics by now. */
  askIntake(): void
  /** Counts for metrics, by the processor's declared counters. Not part of the state; silent in a replay. */
  count(counter: string, label?: string): void
  /**
   * Why this fold does what it does: the rule that fired, in words, with the values it compared. Audits collect it; in live
   * folding it is silent, so call it freely, once for each rule.
   */
  because(rule: string, compared?: Compared): void
}

/** Values that a rule compared, by name. */
export type Compared = Readonly<Record<string, string | number | boolean | null>>

/** Reads a row of any table; undefined: there is none. */
export type RowLookUp = <Row>(table: Table<Row>, key: string) => Row | undefined

/** How audits look at what a domain keeps: a subject is whatever its rows are keyed by (a device, an address). */
export interface Subjects {
  /** Key of the journal that the subject stands under; default: the subject itself. */
  journalKey?(subject: string): string
  /** Rows besides those keyed by the subject itself that its state follows from: of resident tables only. */
  relatedRows(subject: string, get: RowLookUp): readonly RowReference[]
  /** The subject's state in short: JSON, flat; null where there is none. */
  state(subject: string, get: RowLookUp): Readonly<Record<string, unknown>> | null
}

export interface DeadLetterProblem {
  readonly code: string
  readonly message: string
  /** Where the event stands in this journal partition (default: this event); the engine finds its original by it. */
  readonly position?: EventPosition
}

export interface Deadline {
  readonly due: number
  readonly id: string
}

/** Read access for interactive queries, on the owner of a partition; sees what is folded, committed or not. */
export interface QueryReader<Settings = unknown> {
  readonly partition: number
  readonly time: number
  /** Journal time by now: `time` plus what the monotonic clock ran since it was read, ms. */
  readonly journalTime: number
  /** What `Processor.memory` has made for this copy of the partition; undefined without one. */
  readonly memory: unknown
  readonly settings: Settings
  get<Row>(table: Table<Row>, key: string): Promise<Row | undefined>
  getMany<Row>(table: Table<Row>, keys: readonly string[]): Promise<(Row | undefined)[]>
  resident<Row>(table: Table<Row>): Iterable<readonly [key: string, row: Row]>
  residentRow<Row>(table: Table<Row>, key: string): Row | undefined
  /** Pages in key order, of the state at the moment of this call. */
  rows<Row>(table: Table<Row>, range?: ScanRange): AsyncIterable<readonly (readonly [key: string, row: Row])[]>
  /** Pages of index entries (`value` is '' where none was given), of the state at the moment of this call. */
  index(table: Table<unknown>, index: string, range?: ScanRange): AsyncIterable<readonly Required<IndexEntry>[]>
}

/** A named question; arguments and result are JSON, so that another instance can ask it. */
export interface Query<Arguments = unknown, Result = unknown> {
  readonly name: string
  /** Reads a few rows by key: several such questions may go to another instance together. */
  readonly isLookUp?: true
  run(reader: QueryReader, args: Arguments): Promise<Result>
}

/** How far a domain's input topics are taken in. */
export interface InputsTakenIn {
  /** Journal time: all that stood in the inputs then is in the journal before this. */
  readonly asOf: number
  /** Every partition of the inputs, up to which offset (exclusive). */
  readonly inputs: readonly { readonly topic: string; readonly partition: number; readonly offset: number }[]
}

/** Carries out one kind of effect. Not part of the fold; never runs in a replay. */
export interface Effector {
  readonly kind: string
  /** Longest time of one attempt, ms; a new owner waits that long before it acts. */
  readonly deadlineMs: number
  /** The result as an event, folded in the partition that asked. Failures are results; `signal` ends an attempt. */
  perform(request: EffectRequest, signal: AbortSignal): Promise<JournalEvent>
}

/** One domain. Made by a function of the settings and registered by one line in `processors/index.ts`. */
export interface Processor<Event extends JournalEvent = JournalEvent, Settings = unknown> {
  /** Domain: part of the journal's name, and the metric label `domain`. */
  readonly name: string
  /** Raised when the same journal would fold to another state. */
  readonly foldVersion: number
  /** Store: part of the changelog's name. */
  readonly store: string
  /** The Avro records of the journal events, by type. */
  readonly events: Readonly<Record<string, AvroRecordSchema>>
  readonly inputs: readonly Input<Event>[]
  readonly outputs: readonly OutputTopic[]
  readonly tables: readonly Table<unknown>[]
  readonly queries: readonly Query[]
  readonly effectors: readonly Effector[]
  /**
   * Makes what queries may keep between each other besides rows (the place of a round robin), anew for each copy of a partition
   * when it opens and gone with it. Folds never see it, so whatever must survive, or must be exact, is a command instead.
   */
  readonly memory?: () => unknown
  /** Names of counters of the fold, each with its help text. */
  readonly counters: Readonly<Record<string, string>>
  /** Numbers that follow from a partition's rows, told whenever metrics are read, by name. Cheap: of resident tables only. */
  readonly gauges?: Readonly<Record<string, (reader: QueryReader) => number>>
  /** What folds may read of the settings: JSON; written to the journal by each new owner, and read from there. */
  readonly settings: Settings
  /** Who answers for these settings, and why they are as they are: written along with them. */
  readonly settingsBy?: { readonly actor: string; readonly reason?: string }
  /** The event that tells what `askIntake` asked for; absent: the domain never asks. Several asked for may be told by one. */
  readonly inputsTakenIn?: (taken: InputsTakenIn) => Event
  /** Rows that `evolve` may touch for this event. */
  reads(event: Event): Reads
  evolve(event: Event, context: FoldContext<Settings>): void
  readsOfDeadline(deadline: Deadline): Reads
  onDeadline(deadline: Deadline, context: FoldContext<Settings>): void
  /** A new owner's term begins, with the settings of its start: what follows from settings that changed. Of resident tables only. */
  onTerm?(context: FoldContext<Settings>): void
  /**
   * An event's own time, ms, as its fold judges it: what was true at a moment is folded of events up to it. Absent, or
   * undefined for an event: the time it came.
   */
  eventTime?(event: Event, arrival: { readonly time: number; readonly settings: Settings }): number | undefined
  /** Absent: audits show bare rows. */
  readonly subjects?: Subjects
  /** Members of events by which operators set how folds judge (a platform's threshold): audits try other values in their place. */
  readonly parameters?: readonly string[]
}
