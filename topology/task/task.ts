import { ensureError } from '../../common/errors.js'
import { isDamage } from '../../state-stores/errors.js'
import type { StoreError } from '../../state-stores/errors.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import { EngineError } from '../errors.js'
import { readableRecords } from '../journal/readable-records.js'
import { LogError } from '../log/errors.js'
import type { DeliveredBatch, LogRecord, TransactionalWriter } from '../log/log.js'
import { retrying } from '../retry.js'
import { Tally } from '../tally.js'
import type { EffectRequest, Processor } from '../processor.js'
import { distrustOperations } from './commit-record.js'
import { Committer } from './committer.js'
import { Effects } from './effects.js'
import type { TaskEnvironment } from './environment.js'
import { Folder } from './folder.js'
import type { Consequence, FoldState } from './folder.js'
import { follow } from './follow.js'
import { OnceOutputs } from './once-outputs.js'
import { sendableOutput } from './output-record.js'
import { Ownership } from './ownership.js'
import { PositionWaiters } from './position-waiters.js'
import { RestoreMeter } from './restore-meter.js'
import type { RestoreStatus } from './restore-meter.js'
import { throwIfStopped } from './restore.js'
import { openTaskStore } from './open-store.js'
import type { OpenedStore } from './open-store.js'
import { RowStore } from './row-store.js'
import type { HeldJournal } from './staleness.js'
import { foldSegment, segmentsOf } from './segment.js'
import type { FoldableRecord, FoldItem } from './segment.js'
import { engineTables } from './table-runtime.js'
import type { OwedRow } from './table-runtime.js'
import { isValidTransition } from './task-state.js'
import type { TaskState } from './task-state.js'
import { Timers } from './timers.js'

/** Entries folded without giving way to others. */
const SEGMENT_ENTRIES = 250
/** Between two tries of what the log refuses. */
const RETRY_MS = 1000

/** The parts of a task that is open. */
interface Parts {
  readonly writer: TransactionalWriter
  readonly rows: RowStore
  readonly folder: Folder
  readonly committer: Committer
  readonly timers: Timers
  readonly effects: Effects
  readonly onceOutputs: OnceOutputs
  readonly ownership: Ownership
}

/** One partition of one domain: its journal, its rows, its outputs. The only writer of its store and changelog. */
export class Task {
  readonly #environment: TaskEnvironment
  readonly #stop = new AbortController()
  readonly #drain = new AbortController()
  /** Nothing is tried again. */
  readonly #giveUp = AbortSignal.any([this.#stop.signal, this.#drain.signal])
  #state: TaskState = 'CREATED'
  #failure: Error | undefined
  #opening: Promise<number> | undefined
  #closing: Promise<void> | undefined
  #parts: Parts | undefined
  /** Next journal offset to fold. */
  #offset = 0
  #inRecord = false
  #consequences: Consequence[] = []
  readonly #counts = new Tally()
  readonly #waiters = new PositionWaiters()
  /** Monotonic time at which the store was last known to stand at the journal's end. */
  #atEndSince: number | undefined
  /** Monotonic time at which the last stamp was folded. */
  #stampSeenAt = 0
  readonly #memory: unknown
  readonly #release: () => Promise<HeldJournal | undefined>
  #held: HeldJournal | undefined
  readonly #meter: RestoreMeter
  /** Journal offsets from where to where it is to be folded before the task announces itself. */
  #catchUp = { from: 0, to: 0 }

  /**
   * `release` closes the standby that has the store so far, when the task is about to open it; it answers what is known of the store.
   */
  constructor(
    environment: TaskEnvironment,
    release: () => Promise<HeldJournal | undefined> = () => Promise.resolve(undefined),
  ) {
    this.#environment = environment
    this.#release = release
    this.#memory = environment.processor.memory?.()
    this.#meter = new RestoreMeter(environment.clock)
  }

  get state(): TaskState {
    return this.#state
  }
  /** Why the task failed or cannot commit; empty when all is well. */
  get trouble(): string {
    return this.#failure?.message ?? this.#parts?.committer.blocked ?? ''
  }
  /** The store was found damaged: `close` sets it aside. */
  get damage(): StoreError | undefined {
    return isDamage(this.#failure) ? this.#failure : undefined
  }
  /** Another instance has taken it over. */
  get isFenced(): boolean {
    return this.#state === 'FAILED' && isFencing(this.#failure)
  }
  /** Folds what it is given. */
  get isRunning(): boolean {
    return this.#state === 'RUNNING' || this.#state === 'LIVE'
  }
  /** How far its restore is; undefined: it has its state, or has ended. */
  get restore(): RestoreStatus | undefined {
    return this.#state === 'RESTORING' || this.#state === 'RUNNING' ? this.#meter.status : undefined
  }
  get processor(): Processor {
    return this.#environment.processor
  }
  get partition(): number {
    return this.#environment.partition
  }
  get offset(): number {
    return this.#offset
  }
  get committedOffset(): number {
    return this.#parts?.committer.committedOffset ?? 0
  }
  /** The store's digests as of the last commit begun. */
  get digest(): StoreDigest {
    return this.#open().committer.digest
  }
  get rows(): RowStore {
    return this.#open().rows
  }
  get foldState(): FoldState {
    return this.#open().folder.state
  }
  /** The last stamp folded plus what the monotonic clock ran since, ms. */
  get journalTime(): number {
    return this.foldState.time + this.#environment.clock.monotonic() - this.#stampSeenAt
  }
  get memory(): unknown {
    return this.#memory
  }
  owedEffects(kind: string): number {
    const owed = this.#parts?.rows.state(engineTables.owed).resident?.values() ?? []
    return [...owed].filter((row) => (row as OwedRow).kind === kind).length
  }
  get openIterators(): number {
    return this.#parts?.rows.store.openIterators ?? 0
  }
  /** Callers that wait for a position; for a metric and the tests. */
  get waiting(): number {
    return this.#waiters.size
  }
  /** Keys that the changelog does not hold yet. */
  get changelogLag(): number {
    return this.#parts?.committer.lackingKeys ?? 0
  }
  /** ms since the store was last known to stand at the journal's end. */
  get stalenessMs(): number {
    const { clock } = this.#environment
    return this.#atEndSince === undefined ? Number.MAX_SAFE_INTEGER : clock.monotonic() - this.#atEndSince
  }

  /** For the standby that takes the store over: since when it holds all up to an offset; undefined: not known. */
  get held(): HeldJournal | undefined {
    return this.#atEndSince === undefined ? undefined : { offset: this.#offset, at: this.#atEndSince }
  }

  /** Fences the former owner, opens or rebuilds the store; answers the journal offset to go on from. */
  open(): Promise<number> {
    this.#opening ??= this.#openStore()
    return this.#opening
  }

  async #openStore(): Promise<number> {
    const { log, journalTopic, partition } = this.#environment
    this.#transition('RESTORING', 'assigned')
    let writer: TransactionalWriter | undefined
    try {
      writer = await log.writer(`${journalTopic}-${partition}`)
      throwIfStopped(this.#drain.signal)
      await this.#environment.fenceOnceWriter()
      throwIfStopped(this.#drain.signal)
      // Until now the standby could answer.
      this.#held = await this.#release()
      this.#parts = await this.#build(writer)
      this.#transition('RUNNING', `store at offset ${this.#offset}`)
      // The first record of a journal is its first owner's: folds read their settings from it.
      await this.#parts.ownership.folded(this.#offset)
      return this.#offset
    } catch (thrown) {
      if (this.#parts === undefined) await writer?.close()
      // A restore that was told to end is no failure.
      if (!this.#drain.signal.aborted) this.fail(ensureError(thrown))
      throw thrown
    }
  }

  /** Folds a batch of journal records; resolves when folded (not when committed), or when the task has failed. */
  async process(batch: DeliveredBatch): Promise<void> {
    if (!this.isRunning) return
    const receivedAt = this.#environment.clock.monotonic()
    try {
      await this.#processRecords(batch)
    } catch (thrown) {
      if (isDamage(thrown)) this.fail(thrown)
      if (this.#stop.signal.aborted) return
      throw thrown
    }
    if (batch.next >= batch.end) this.reachedEnd(batch.readAt ?? receivedAt)
    void this.#open().ownership.folded(this.#offset)
    this.#open().committer.schedule()
  }

  /** The store holds all that the journal held at this monotonic time. */
  reachedEnd(at: number): void {
    this.#atEndSince = Math.max(at, this.#atEndSince ?? at)
  }

  /** Resolves when the record at `offset` is folded, the task has stopped, or `signal` ends the wait. */
  whenFolded(offset: number, signal: AbortSignal): Promise<void> {
    return this.#offset > offset || !this.isRunning ? Promise.resolve() : this.#waiters.wait(offset, signal)
  }

  /** Commits what is folded by now; resolves when it is in the store (and, when asked, in the changelog). */
  commit(options: { readonly changelog: boolean }): Promise<void> {
    return this.#open().committer.commit(options)
  }

  /** From now on it waits for nothing that may never come: a write that fails is not tried again, a restore ends. */
  drain(): void {
    this.#drain.abort()
  }

  /** Commits, writes the changelog, closes; a store found damaged is then set aside. A second call answers as the first. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  /** Stops for good, keeping the reason. */
  fail(error: Error): void {
    if (this.#state === 'CLOSED' || this.#state === 'FAILED') return
    const wasRunning = this.isRunning
    this.#failure = error
    this.#environment.observer.onError(error)
    this.#stop.abort()
    this.#transition('FAILED', error.message)
    void this.#parts?.timers.stop()
    void this.#parts?.effects.stop()
    this.#waiters.wakeAll()
    // The process may end before the store is set aside.
    if (this.damage !== undefined) this.#parts?.rows.store.write(distrustOperations).catch(() => undefined)
    if (wasRunning) this.#environment.onFailed(error)
  }

  async #close(): Promise<void> {
    if (this.#state === 'RESTORING') this.drain()
    await this.#opening?.catch(() => undefined)
    const parts = this.#parts
    await parts?.timers.stop()
    await parts?.effects.stop()
    if (this.isRunning) await parts?.committer.commit({ changelog: true })
    if (this.isRunning && parts?.committer.isInChangelog === true)
      await parts.onceOutputs.release().catch(() => undefined)
    this.#stop.abort()
    this.#transition('CLOSED', 'revoked or stopping')
    await parts?.committer.stop()
    await parts?.writer.close()
    await parts?.rows.store.close()
    const { stores, storeName, observer } = this.#environment
    if (this.damage !== undefined) {
      observer.onSetAside(this.damage.message, await stores.setAside(storeName, this.damage.message))
    }
    this.#waiters.wakeAll()
  }

  async #build(writer: TransactionalWriter): Promise<Parts> {
    const environment = this.#environment
    const onRead = (done: number, total: number): void => this.#meter.reached('changelog', done, total)
    const opened = await openTaskStore({ ...environment, onRead }, this.#drain.signal)
    try {
      return await this.#assemble(opened, writer)
    } catch (thrown) {
      await opened.store.close()
      throw thrown
    }
  }

  async #assemble(opened: OpenedStore, writer: TransactionalWriter): Promise<Parts> {
    const environment = this.#environment
    const { processor, partition, clock, observer } = environment
    const rows = new RowStore(opened.store, processor.tables, environment.rowCaches)
    await rows.loadResident()
    const { offset, time, epoch, foldVersion, settings } = opened.commit
    this.#offset = offset
    this.#stampSeenAt = clock.monotonic()
    const folder = new Folder(
      {
        processor,
        partition,
        journal: environment.journalName,
        rows,
        codec: environment.codec,
        onConsequence: (consequence) => this.#consequences.push(consequence),
        onCount: (counter, label) => this.#counts.add(counter, label),
      },
      { time, epoch, foldVersion, settings },
    )
    const committer = new Committer({
      environment,
      opened,
      rows,
      writer,
      signal: this.#stop.signal,
      draining: this.#drain.signal,
      position: () => ({
        ...folder.state,
        offset: this.#offset,
        foldedBy: processor.foldVersion,
        outputs: this.#open().onceOutputs.outUpTo,
      }),
      isAtRecordBoundary: () => !this.#inRecord,
      onFailed: (error) => this.fail(error),
    })
    await committer.open()
    const timers = new Timers({
      clock,
      rows,
      writer: environment.journalWriter(partition),
      journalTime: () => this.journalTime,
      epoch: () => folder.state.epoch,
      onError: (error) => (isDamage(error) ? this.fail(error) : observer.onError(error)),
    })
    const effects = new Effects({
      clock,
      effectors: processor.effectors,
      writer: environment.journalWriter(partition),
      onPerformed: (kind, durationMs) => observer.onEffectPerformed(kind, durationMs),
      onError: (error) => observer.onError(error),
    })
    const onceOutputs = new OnceOutputs({
      ...{ clock, writer, log: environment.log },
      changelog: { topic: environment.changelogTopic, partition },
      changelogFrom: opened.commit.changelog.end,
      position: opened.outputs,
      signal: this.#stop.signal,
      giveUp: this.#giveUp,
      onceWriter: environment.onceWriter,
      keepOnceWriter: (id) => environment.keepOnceWriter(id, this.#offset),
      encode: (made) => sendableOutput(made, `${environment.journalName}/${partition}`),
    })
    const { end } = await environment.log.offsets({ topic: environment.journalTopic, partition })
    this.#catchUp = { from: offset, to: end }
    if (this.#held !== undefined && offset >= this.#held.offset) this.#atEndSince = this.#held.at
    this.#meter.reached('journal', 0, end - offset)
    const ownership = new Ownership(
      {
        environment,
        writer,
        signal: this.#giveUp,
        epoch: () => folder.state.epoch,
        onLive: (epoch) => this.#live(epoch),
        onOutdone: (instance) => this.#outdone(instance),
        onFailed: (error) => this.fail(error),
      },
      end,
    )
    return { writer, rows, folder, committer, timers, effects, onceOutputs, ownership }
  }

  /** Folds record by record, in segments that give way to others; an event that needs a scan is a segment of its own. */
  async #processRecords(batch: DeliveredBatch): Promise<void> {
    const { folder, committer, onceOutputs } = this.#open()
    const endOfRecords = async (next: number): Promise<void> => {
      this.#inRecord = false
      this.#advance(next)
      onceOutputs.recordsFolded(this.#offset)
      committer.atRecordBoundary()
      await committer.makeRoom()
    }
    for (const { items, next } of segmentsOf(folder, this.#decoded(batch), SEGMENT_ENTRIES)) {
      this.#inRecord = true
      await this.#fold(items)
      items.length = 0
      if (next !== undefined) await endOfRecords(next)
    }
    await endOfRecords(batch.next)
  }

  #decoded(batch: DeliveredBatch): Iterable<FoldableRecord> {
    const { codec, observer } = this.#environment
    const records = recordsFrom(this.#offset, batch.records)
    return readableRecords(codec.decodeLazily, batch, records, (error) => observer.onError(error))
  }

  async #fold(segment: readonly FoldItem[]): Promise<void> {
    // Failed under way: nothing more is folded, and nothing more sent.
    this.#stop.signal.throwIfAborted()
    const { rows, folder } = this.#open()
    await foldSegment(rows, folder, segment, (fold) =>
      this.#environment.turns.run(() => {
        this.#stop.signal.throwIfAborted()
        fold()
      }, kindOf(segment)),
    )
    this.#stampSeenAt = this.#environment.clock.monotonic()
    const { observer } = this.#environment
    observer.onFolded(segment.length)
    this.#counts.tell((counter, label, times) => observer.onCount(counter, label, times))
    const consequences = this.#consequences
    this.#consequences = []
    follow(consequences, {
      ...this.#open(),
      environment: this.#environment,
      isLive: this.#state === 'LIVE',
      retrying: (work) => this.#retrying(work),
      onFailed: (error) => this.fail(error),
    })
    await this.#environment.probe?.('folded', this.partition)
  }

  #live(epoch: number): void {
    const { timers, effects, rows } = this.#open()
    this.#transition('LIVE', `epoch ${epoch}`)
    timers.start()
    effects.start(inheritedEffects(rows))
  }

  #outdone(instance: string): void {
    const { timers, effects } = this.#open()
    if (this.#state === 'LIVE') this.#transition('RUNNING', `another owner was read: ${instance}`)
    void timers.stop()
    void effects.stop()
  }

  #retrying<Result>(work: () => Promise<Result>): Promise<Result> {
    const { clock, observer } = this.#environment
    return retrying(
      { clock, delayMs: RETRY_MS, signal: this.#giveUp, onRetry: (error) => observer.onError(error) },
      work,
    )
  }

  #advance(next: number): void {
    this.#offset = Math.max(this.#offset, next)
    this.#waiters.folded(this.#offset)
    const { from, to } = this.#catchUp
    if (this.#state === 'RUNNING') this.#meter.reached('journal', Math.min(this.#offset, to) - from, to - from)
  }

  #open(): Parts {
    if (this.#parts === undefined)
      throw new EngineError('TASK_NOT_RUNNING', `task ${this.processor.name}/${this.partition} is not open`)
    return this.#parts
  }

  #transition(to: TaskState, reason: string): void {
    if (!isValidTransition(this.#state, to)) throw new Error(`a task cannot go from ${this.#state} to ${to}`)
    this.#state = to
    this.#environment.observer.onState(to, reason)
  }
}

/** Another instance has opened the task's writer. */
export function isFencing(error: unknown): boolean {
  return error instanceof LogError && error.code === 'WRITER_FENCED'
}

/** The portions of something long can wait; what else is due cannot. */
function kindOf([first]: readonly FoldItem[]): 'due' | 'read' | 'canWait' {
  if (first?.reads.scan !== undefined) return 'canWait'
  return first?.entry.kind === 'timer' ? 'due' : 'read'
}

/** What is owed, in the order of the requests. */
function inheritedEffects(rows: RowStore): EffectRequest[] {
  const owed = [...(rows.state(engineTables.owed).resident ?? [])] as [id: string, row: OwedRow][]
  owed.sort(([, { order: a }], [, { order: b }]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
  return owed.map(([id, { kind, target, payload }]) => ({ id, kind, target, payload }))
}

function* recordsFrom(from: number, records: Iterable<LogRecord>): Generator<LogRecord> {
  for (const record of records) if (record.offset >= from) yield record
}
