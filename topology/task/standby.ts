import { sleep } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import { isDamage } from '../../state-stores/errors.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import { EngineError } from '../errors.js'
import type { TopicPartition } from '../log/log.js'
import { ChangelogFollower } from './changelog-follower.js'
import type { AppliedRow } from './changelog-follower.js'
import type { FoldState } from './folder.js'
import { openStandbyStore } from './open-store.js'
import type { StoreEnvironment } from './open-store.js'
import { PositionWaiters } from './position-waiters.js'
import { RestoreMeter } from './restore-meter.js'
import type { RestoreStatus } from './restore-meter.js'
import { RowStore } from './row-store.js'
import { Staleness } from './staleness.js'
import type { HeldJournal } from './staleness.js'

/** What a standby needs around it. */
export interface StandbyEnvironment extends Omit<StoreEnvironment, 'onRead'> {
  /** Its state has changed. */
  onStandbyState(state: StandbyState, reason: string): void
}

/** RESTORING until it has held once what the journal held when it was looked at; FAILED is tried again. */
export type StandbyState = 'RESTORING' | 'RUNNING' | 'FAILED' | 'CLOSED'

/** Between two looks at the changelog: the longer the less there is to see. */
const POLL_MS = 250
const LONGEST_POLL_MS = 1000
/** Before a store that failed is opened anew. */
const RETRY_MS = 5000
const noFold: Pick<FoldState, 'time' | 'settings'> = { time: 0, settings: null }

interface Parts {
  readonly store: KeyValueStore
  readonly rows: RowStore
  readonly follower: ChangelogFollower
}

/**
 * A copy of a partition whose owner is another instance: its own store, kept up to date from the changelog's committed
 * records. It folds nothing and writes nothing to any log. When the partition comes here its task opens the same store and
 * goes on. Answers as far as it is: a commit and a changelog interval behind the owner, and more when it says so.
 */
export class Standby {
  readonly #environment: StandbyEnvironment
  readonly #stop = new AbortController()
  readonly #waiters = new PositionWaiters()
  readonly #staleness: Staleness
  readonly #memory: unknown
  readonly #meter: RestoreMeter
  #state: StandbyState = 'RESTORING'
  #failure: Error | undefined
  #parts: Parts | undefined
  #lagRecords: number | undefined
  /** Monotonic time of the last commit applied. */
  #appliedAt = 0
  #running: Promise<void> | undefined

  /** `held` is known of the store that it finds, from a task. */
  constructor(environment: StandbyEnvironment, held?: HeldJournal) {
    this.#environment = environment
    this.#staleness = new Staleness(environment.clock)
    if (held !== undefined) this.#staleness.ended(held.offset, held.at)
    this.#memory = environment.processor.memory?.()
    this.#meter = new RestoreMeter(environment.clock)
  }

  get state(): StandbyState {
    return this.#state
  }
  get partition(): number {
    return this.#environment.partition
  }
  get domain(): string {
    return this.#environment.processor.name
  }
  /** How far its restore is; undefined: it has caught up, or has ended. */
  get restore(): RestoreStatus | undefined {
    return this.#state === 'RESTORING' ? this.#meter.status : undefined
  }
  /** Records of the changelog not applied yet; undefined: not known. */
  get lagRecords(): number | undefined {
    return this.#lagRecords
  }
  /** Next journal offset to be folded by whoever takes over. */
  get offset(): number {
    return this.#parts?.follower.commit?.offset ?? 0
  }
  /** ms since it was last known to hold all that the journal held. */
  get stalenessMs(): number {
    return this.#staleness.ms
  }
  get digest(): StoreDigest {
    return this.#open().follower.digest
  }
  /** For the task that takes the store over: since when it holds all up to an offset; undefined: not known. */
  get held(): HeldJournal | undefined {
    const at = this.#staleness.knownAt
    return at === undefined ? undefined : { offset: this.offset, at }
  }
  get rows(): RowStore {
    return this.#open().rows
  }
  get foldState(): Pick<FoldState, 'time' | 'settings'> {
    return this.#parts?.follower.commit ?? noFold
  }
  get journalTime(): number {
    return this.foldState.time + this.#environment.clock.monotonic() - this.#appliedAt
  }
  get memory(): unknown {
    return this.#memory
  }

  /** Opens the store and follows until `close`. */
  start(): void {
    this.#running ??= this.#run()
  }

  reachedEnd(at: number): void {
    this.#staleness.reachedEnd(at)
  }

  whenFolded(offset: number, signal: AbortSignal): Promise<void> {
    const isOver = this.offset > offset || this.#stop.signal.aborted
    return isOver ? Promise.resolve() : this.#waiters.wait(offset, signal)
  }

  /** A query found the store damaged: it is opened anew, which sets it aside. */
  fail(error: Error): void {
    if (this.#failure !== undefined || this.#stop.signal.aborted) return
    this.#failure = error
    this.#become('FAILED', error.message)
  }

  /** Resolves when the store is closed. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#waiters.wakeAll()
    await this.#running
    if (this.#state !== 'CLOSED') this.#become('CLOSED', 'promoted, moved or stopping')
  }

  async #run(): Promise<void> {
    const { clock, observer } = this.#environment
    const { signal } = this.#stop
    while (!this.#isStopping()) {
      try {
        await this.#openStore()
        await this.#follow()
      } catch (thrown) {
        const error = ensureError(thrown)
        if (!this.#isStopping()) observer.onError(error)
        this.fail(error)
      }
      await this.#closeStore()
      if (this.#failure !== undefined) await sleep(clock, RETRY_MS, signal)
    }
  }

  async #openStore(): Promise<void> {
    const { processor, log, changelogTopic: topic, partition } = this.#environment
    this.#failure = undefined
    this.#become('RESTORING', 'standing by')
    const onRead = (done: number, total: number): void => this.#meter.reached('changelog', done, total)
    const { store, position } = await openStandbyStore({ ...this.#environment, onRead }, this.#stop.signal)
    const { tables } = processor
    // Nothing is cached but what is resident: another writes the rows.
    const rows = new RowStore(store, tables, 0)
    const onApplied = (changes: readonly AppliedRow[]): void => this.#applied(rows, changes)
    const changelog = { topic, partition }
    const follower = new ChangelogFollower({ log, changelog, store, tables, position, onApplied })
    this.#parts = { store, rows, follower }
    await rows.loadResident()
  }

  async #follow(): Promise<void> {
    const { log, clock, journalTopic: topic, partition } = this.#environment
    const journal: TopicPartition = { topic, partition }
    const { signal } = this.#stop
    let pauseMs = POLL_MS
    let former = -1
    while (!signal.aborted && this.#failure === undefined) {
      const sampledAt = clock.monotonic()
      const { end } = await log.offsets(journal)
      this.#staleness.ended(end, sampledAt)
      await this.#advance()
      if (this.#open().follower.commit !== undefined) this.#staleness.reached(this.offset)
      if (this.#state === 'RESTORING' && this.#staleness.knownAt !== undefined && !this.#isStopping()) {
        this.#become('RUNNING', `at journal offset ${this.offset}`)
      }
      const isQuiet = end === former && this.offset >= end
      pauseMs = isQuiet ? Math.min(2 * pauseMs, LONGEST_POLL_MS) : POLL_MS
      former = end
      // All of an instance look at the same moments, so that what they ask the log can share requests.
      await sleep(clock, pauseMs - (clock.monotonic() % pauseMs), signal)
    }
    if (isDamage(this.#failure)) throw this.#failure
  }

  /** Applies all there is. */
  async #advance(): Promise<void> {
    const { follower } = this.#open()
    for (let isAtEnd = false; !isAtEnd && !this.#stop.signal.aborted;) {
      const { next, end } = await follower.advance()
      this.#lagRecords = Math.max(0, end - next)
      isAtEnd = next >= end
    }
  }

  #applied(rows: RowStore, changes: readonly AppliedRow[]): void {
    this.#appliedAt = this.#environment.clock.monotonic()
    for (const { runtime, key, after } of changes) {
      const { resident } = rows.state(runtime.table)
      const name = key.toString('utf8', 1)
      if (after === undefined) resident?.delete(name)
      else resident?.set(name, runtime.table.codec.decode(after))
    }
    this.#waiters.folded(this.offset)
  }

  async #closeStore(): Promise<void> {
    const { stores, storeName, observer } = this.#environment
    const parts = this.#parts
    this.#parts = undefined
    this.#lagRecords = undefined
    if (parts === undefined) return
    try {
      await parts.store.close()
      const reason = this.#uselessness()
      if (reason !== undefined) observer.onSetAside(reason, await stores.setAside(storeName, reason))
    } catch (thrown) {
      // Whether it is free shows when it is opened next, here or by the task.
      observer.onError(ensureError(thrown))
    }
  }

  /** Why the store is of no use any more. */
  #uselessness(): string | undefined {
    const error = this.#failure
    const isMismatch = error instanceof EngineError && error.code === 'CHANGELOG_MISMATCH'
    return isMismatch || isDamage(error) ? error.message : undefined
  }

  #isStopping(): boolean {
    return this.#stop.signal.aborted
  }

  #open(): Parts {
    if (this.#parts === undefined) {
      throw new EngineError('TASK_NOT_RUNNING', `the standby of ${this.domain}/${this.partition} is not open`)
    }
    return this.#parts
  }

  #become(state: StandbyState, reason: string): void {
    this.#state = state
    this.#environment.onStandbyState(state, reason)
  }
}
