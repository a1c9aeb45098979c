import type { Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  Appended,
  GroupListener,
  GroupMember,
  GroupOptions,
  Log,
  LogRecord,
  MemberView,
  NewRecord,
  DeliveredBatch,
  RecordBatch,
  TopicPartition,
  TopicSpec,
} from '../log.js'

/** What a driver brings for the contract suite. Cases that need what is absent are skipped. */
export interface LogHarness {
  /** A log for one test, closed at the test's end. It may hold other tests' topics. */
  open(t: Test): Promise<Log>
  /** Closes the log, and opens it anew on the same data. */
  readonly reopen?: (t: Test, log: Log) => Promise<Log>
  /** Applies retention and compaction now. */
  readonly clean?: (log: Log) => Promise<void>
  /** How old a tombstone must be for `clean` to take it. */
  readonly deleteRetentionMs?: number
  /** Moves the log start. */
  readonly deleteBefore?: (log: Log, partition: TopicPartition, offset: number) => Promise<void>
  /** Lets time pass. Absent: the clock runs by itself. */
  readonly passTime?: (ms: number) => Promise<void>
  /** Steps the wall clock alone. */
  readonly stepWallClock?: (ms: number) => void
  /** Headers of several names keep their order when a name comes again later. Absent: only the order within a name. */
  readonly keepsHeaderOrder?: true
}

export interface ContractCase {
  readonly name: string
  readonly needs?: readonly (keyof LogHarness)[]
  run(t: Test, harness: Required<LogHarness>): Promise<void>
}

/** A name no other test has, also on a shared broker. */
export function newName(): string {
  return `contract-${randomUUID()}`
}

export async function createTopic(log: Log, options: Partial<TopicSpec> = {}): Promise<string> {
  const name = options.name ?? newName()
  const defaults = { partitions: 1, cleanup: 'delete', retentionMs: -1, retentionBytes: -1 } as const
  await log.createTopics([{ timestampType: 'LogAppendTime', ...defaults, ...options, name }])
  return name
}

/** A record with these texts as key and value. */
export function record(key: string | null, value: string | null, timestamp?: number): NewRecord {
  const bytes = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text))
  return { key: bytes(key), value: bytes(value), ...(timestamp === undefined ? {} : { timestamp }) }
}

export function numbered(count: number, prefix = 'v'): NewRecord[] {
  return Array.from({ length: count }, (_, i) => record(null, `${prefix}${i}`))
}

export function valuesOf(records: readonly LogRecord[]): (string | null)[] {
  return records.map(({ value }) => value && value.toString())
}

/** All records from `from` (default: the log start) up to the end. */
export async function readAll(log: Log, partition: TopicPartition, from?: number): Promise<LogRecord[]> {
  const { start, end } = await log.offsets(partition)
  const records: LogRecord[] = []
  for (let next = from ?? start; next < end;) {
    const batch = await log.read(partition, next)
    records.push(...batch.records)
    if (batch.next <= next) throw new Error(`a read at ${next} of ${end} does not move on`)
    next = batch.next
  }
  return records
}

/** All records, once those of an append of `count` records to this partition can be read: a transaction's are some time after it. */
export async function readBehind(
  log: Log,
  partition: TopicPartition,
  appended: Appended | undefined,
  count: number,
): Promise<LogRecord[]> {
  while ((await log.offsets(partition)).end < (appended?.baseOffset ?? Infinity) + count) await nextTurn()
  return readAll(log, partition)
}

type Seen =
  | { readonly call: 'assigned' | 'revoking' | 'revoked'; readonly partitions: readonly TopicPartition[] }
  | { readonly call: 'members'; readonly members: readonly MemberView[] }
  | { readonly call: 'batch' | 'batch-done'; readonly batch: RecordBatch }
  | { readonly call: 'passed'; readonly passed: TopicPartition & { readonly next: number } }
  | { readonly call: 'gap'; readonly gap: TopicPartition & { readonly from: number; readonly to: number } }
  | { readonly call: 'error'; readonly error: Error }

/** A listener that keeps what it was told, and a way to wait for it. */
export class RecordingListener implements GroupListener {
  readonly seen: Seen[] = []
  readonly #waiting = new Set<() => void>()
  readonly #behaviour: Partial<Pick<GroupListener, 'onAssigned' | 'onBatch' | 'onRevoked'>>

  constructor(behaviour: Partial<Pick<GroupListener, 'onAssigned' | 'onBatch' | 'onRevoked'>> = {}) {
    this.#behaviour = behaviour
  }

  async onAssigned(partitions: readonly TopicPartition[]): ReturnType<GroupListener['onAssigned']> {
    this.#add({ call: 'assigned', partitions })
    const starts = (await this.#behaviour.onAssigned?.(partitions)) ?? []
    this.#check()
    return starts
  }

  onRevoking(partitions: readonly TopicPartition[]): void {
    this.#add({ call: 'revoking', partitions })
  }

  async onRevoked(partitions: readonly TopicPartition[]): Promise<void> {
    this.#add({ call: 'revoked', partitions })
    await this.#behaviour.onRevoked?.(partitions)
    this.#check()
  }

  async onBatch(delivered: DeliveredBatch): Promise<void> {
    const batch = { ...delivered, records: [...delivered.records] }
    this.#add({ call: 'batch', batch })
    await this.#behaviour.onBatch?.(batch)
    this.#add({ call: 'batch-done', batch })
  }

  onPassedOver(passed: TopicPartition & { readonly next: number }): void {
    this.#add({ call: 'passed', passed })
  }

  onMembers(members: readonly MemberView[]): void {
    this.#add({ call: 'members', members })
  }

  onGap(gap: TopicPartition & { readonly from: number; readonly to: number }): void {
    this.#add({ call: 'gap', gap })
  }

  onError(error: Error): void {
    this.#add({ call: 'error', error })
  }

  /** Batches whose handling began, and those whose handling was done. */
  batches(call: 'batch' | 'batch-done' = 'batch'): RecordBatch[] {
    return this.seen.flatMap((seen) => (seen.call === call && 'batch' in seen ? [seen.batch] : []))
  }

  records(): LogRecord[] {
    return this.batches('batch-done').flatMap(({ records }) => records)
  }

  values(): (string | null)[] {
    return valuesOf(this.records())
  }

  passed(): (TopicPartition & { readonly next: number })[] {
    return this.seen.flatMap((seen) => (seen.call === 'passed' ? [seen.passed] : []))
  }

  errors(): Error[] {
    return this.seen.flatMap((seen) => (seen.call === 'error' ? [seen.error] : []))
  }

  partitions(call: 'assigned' | 'revoked'): number[] {
    const numbers = this.seen.flatMap((seen) =>
      seen.call === call && 'partitions' in seen ? seen.partitions.map(({ partition }) => partition) : [],
    )
    return numbers.sort((a, b) => a - b)
  }

  /** Resolves when the condition holds; it is looked at when a call begins and when it ends. */
  until(condition: (listener: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!condition(this)) return
        this.#waiting.delete(check)
        resolve()
      }
      this.#waiting.add(check)
      check()
    })
  }

  #add(seen: Seen): void {
    this.seen.push(seen)
    this.#check()
  }

  #check(): void {
    for (const check of [...this.#waiting]) check()
  }
}

/** Joins a group and leaves it at the test's end. */
export async function join(
  t: Test,
  log: Log,
  listener: GroupListener,
  options: Partial<GroupOptions> & Pick<GroupOptions, 'topics'>,
): Promise<GroupMember> {
  const member = await log.join({ group: newName(), ...options, listener })
  t.teardown(() => member.leave().catch(() => undefined))
  return member
}

/** A promise and the way to settle it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open: () => open() }
}
