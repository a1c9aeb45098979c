/** Header name and value pairs in the order sent: names may repeat, and may be `__proto__`; so never an object. */
export type Headers = readonly (readonly [name: string, value: Buffer])[]

/** A record as read. `timestamp` is ms since 1970 (or -1 where a producer sent that). */
export interface LogRecord {
  readonly offset: number
  readonly timestamp: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: Headers
}

/** A record to append. `timestamp` is taken by topics of type CreateTime only (default: the clock). */
export interface NewRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers?: Headers
  readonly timestamp?: number
}

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** Consecutive records of one partition. `next` is where to read on: it may lie beyond the last record plus one. */
export interface RecordBatch extends TopicPartition {
  readonly records: readonly LogRecord[]
  readonly next: number
  /** The end of the partition when this was read: the offset the next appended record will get. */
  readonly end: number
  /** Monotonic time at which it ended there, or earlier, ms; told of what is delivered to a group's member. */
  readonly readAt?: number
}

/** Records in order, to be gone over as often as wanted; a driver may make each only when it is asked for. */
export interface Records extends Iterable<LogRecord> {
  readonly length: number
  /** A negative index counts from the end. */
  at(index: number): LogRecord | undefined
}

/** What a group member is given: as `RecordBatch`, of records that may be made one by one. */
export interface DeliveredBatch extends Omit<RecordBatch, 'records'> {
  readonly records: Records
  /** Of the records, about; absent: not known without looking at each. */
  readonly bytes?: number
}

/** What a topic of ours is created with, or an existing one is checked against. */
export interface TopicSpec {
  readonly name: string
  readonly partitions: number
  readonly cleanup: 'delete' | 'compact'
  /** ms; -1 keeps for ever. */
  readonly retentionMs: number
  /** Bytes per partition; -1 without bound. */
  readonly retentionBytes: number
  /**
   * LogAppendTime: the log stamps, one clock a partition, never below the partition's last stamp and not moved by steps of
   * the wall clock. CreateTime: the producer's stamp is kept as it is.
   */
  readonly timestampType: 'LogAppendTime' | 'CreateTime'
}

export interface TopicDescription {
  readonly name: string
  readonly partitions: number
  /** Changes when the topic is deleted and made anew. */
  readonly incarnation: string
}

/** Where appended records stand; `timestamp` is what the log stamped (LogAppendTime), else the highest sent. */
export interface Appended {
  readonly baseOffset: number
  readonly timestamp: number
}

/** A group member's place in a partition: the offset to read next, and a note kept with it. */
export interface GroupPosition {
  readonly offset: number
  readonly metadata: string
}

export interface ReadOptions {
  /** Default 1 MiB; at least one record is returned whatever its size. */
  readonly maxBytes?: number
  readonly maxRecords?: number
}

/** What a member is to hold: `active` is delivered to it and to no other, of `standby` it keeps copies by itself. */
export interface Share {
  readonly active: readonly TopicPartition[]
  readonly standby: readonly TopicPartition[]
}

/** A member as the placement sees it. */
export interface Candidate {
  readonly id: string
  readonly topics: readonly string[]
  /** What its `describe` told at this rebalance; empty: nothing. */
  readonly data: Buffer
  /** What it holds now. */
  readonly owned: readonly TopicPartition[]
}

/**
 * Who is to hold what: pure, and the same for the same candidates in whatever order. Each partition of a topic belongs to
 * one of those who subscribe to it, by the candidates' ids. A driver hands over what moves in its own time, so that no
 * partition is ever active in two places.
 */
export type Placement = (
  candidates: readonly Candidate[],
  partitionsOf: ReadonlyMap<string, number>,
) => ReadonlyMap<string, Share>

/** A member as all see it since the last rebalance. What is handed over is active nowhere; who is to get it stands by. */
export interface MemberView extends Share {
  readonly id: string
  readonly isSelf: boolean
  readonly data: Buffer
}

/** Where a partition is read from. */
export interface ReadingStart extends TopicPartition {
  readonly offset: number
  /** Of the topic that is meant: none that is made anew later is read in its place. Absent: the one there is. */
  readonly incarnation?: string
}

/**
 * What a group member does. Calls for one partition never overlap: the next batch comes after `onBatch` has resolved, and
 * then the position moves. A rejected `onBatch` is told to `onError`; the same batch comes again after a pause.
 */
export interface GroupListener {
  /** Before the first batch of these partitions. Answers where to start; absent: the committed position, else the log start. */
  onAssigned(partitions: readonly TopicPartition[]): Promise<readonly ReadingStart[]>
  /** The partitions are about to go: what `onAssigned` still does for them may end, by rejecting. */
  onRevoking?(partitions: readonly TopicPartition[]): void
  /** The partitions are gone (or going, when the member leaves); the last `onBatch` of each has resolved. */
  onRevoked(partitions: readonly TopicPartition[]): Promise<void>
  onBatch(batch: DeliveredBatch): Promise<void>
  /**
   * In order with the batches: no record is left before `next`. What lay there were marks of transactions, records of aborted
   * ones, or a gap.
   */
  onPassedOver?(passed: TopicPartition & { readonly next: number }): void
  /**
   * At each rebalance, whether or not it changes what this member holds: when it has let go of what is gone, and before it
   * is given what is new. Empty when the group has forgotten this member.
   */
  onMembers?(members: readonly MemberView[]): void
  /** The asked offset lies before the log start: records `from` to `to` (exclusive) are lost; reading goes on at `to`. */
  onGap(gap: TopicPartition & { readonly from: number; readonly to: number }): void
  onError(error: Error): void
}

export interface GroupOptions {
  readonly group: string
  readonly topics: readonly string[]
  readonly listener: GroupListener
  /** What this member tells all others at each rebalance; some kilobytes at most. Default: nothing. */
  readonly describe?: () => Buffer
  /** Of one group's members all have the same. Default: balanced, each keeps what it can, no standbys. */
  readonly placement?: Placement
  /** Records and bytes of one batch; default 10,000 and 1 MiB. */
  readonly maxRecords?: number
  readonly maxBytes?: number
}

export interface GroupMember {
  readonly assignment: readonly TopicPartition[]
  /** All members, as of the last rebalance this member took part in. */
  members(): readonly MemberView[]
  /**
   * The group has heard of this member within the session time-out: what it holds cannot be another's by now. False after a
   * pause of the process until the group was asked.
   */
  readonly isCurrent: boolean
  /** Asks for a rebalance: what `describe` tells has changed. */
  rejoin(): void
  /**
   * Keeps a position for the next member that gets the partition. Lower than before is allowed. Rejects with WRITER_FENCED
   * once `onRevoked` has resolved: the position is another member's then.
   */
  commit(partition: TopicPartition, position: GroupPosition): Promise<void>
  committed(partition: TopicPartition): Promise<GroupPosition | undefined>
  /** Stops delivery of a partition until `resume`; a batch under way ends. */
  pause(partition: TopicPartition): void
  resume(partition: TopicPartition): void
  /** A paused partition is read on from there when it is resumed; what was read ahead is dropped. */
  seek(to: ReadingStart): void
  /** Revokes and leaves; resolves when no call of the listener is under way. */
  leave(): Promise<void>
}

/** Appends to several partitions as one: readers see all or nothing. Of one id there is one live writer at a time. */
export interface TransactionalWriter {
  /** Resolves when nothing can undo it; readers see it soon, at the latest when a later writer of its id is open. Rejects with WRITER_FENCED, writing nothing, once a later writer of the same id was opened. */
  append(parts: readonly (TopicPartition & { readonly records: readonly NewRecord[] })[]): Promise<readonly Appended[]>
  close(): Promise<void>
}

/**
 * The log port. Records of a partition have gapless or growing offsets from 0, in the order acknowledged; what was
 * acknowledged survives kill -9. Two `append` calls for one partition stand in the order of the calls.
 */
export interface Log {
  /** Creates what is missing; an existing topic with another partition count or clean-up is refused with TOPIC_MISMATCH. */
  createTopics(specs: readonly TopicSpec[]): Promise<void>
  topic(name: string): Promise<TopicDescription | undefined>
  topics(): Promise<readonly TopicDescription[]>
  /** Resolves when durable. Errors: TOPIC_UNKNOWN, PARTITION_UNKNOWN, RECORD_TOO_LARGE, LOG_CLOSED, LOG_UNAVAILABLE. */
  append(topic: string, partition: number, records: readonly NewRecord[]): Promise<Appended>
  /** The first offset still there, and the offset the next record will get. */
  offsets(partition: TopicPartition): Promise<{ readonly start: number; readonly end: number }>
  /** The first offset whose timestamp is at or after the given; the end when there is none. */
  offsetForTime(partition: TopicPartition, timestampMs: number): Promise<number>
  /** Reads without a group, from `offset`; an empty batch at the end. OFFSET_OUT_OF_RANGE when before the start or beyond the end. */
  read(partition: TopicPartition, offset: number, options?: ReadOptions): Promise<RecordBatch>
  /**
   * Resolves before the listener is called for the first time. A topic that is missing has no partitions, until a rebalance
   * finds it: see `rejoin`.
   */
  join(options: GroupOptions): Promise<GroupMember>
  /** The position that a group keeps, whoever its members are; undefined: none. */
  committed(group: string, partition: TopicPartition): Promise<GroupPosition | undefined>
  /** Opens the writer of `transactionalId` and fences the former one before it resolves. */
  writer(transactionalId: string): Promise<TransactionalWriter>
  /**
   * Refuses every later call with LOG_CLOSED; what was called before is still done. All members leave, with `onRevoked`;
   * a member that wants to commit there leaves before. Resolves when no work is under way.
   */
  close(): Promise<void>
}
