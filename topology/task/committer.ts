import { sleep } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import { isDamage, StoreError } from '../../state-stores/errors.js'
import type { WriteOperation } from '../../state-stores/key-value-store.js'
import { LogError } from '../log/errors.js'
import type { TransactionalWriter } from '../log/log.js'
import { writeChangelog } from './changelog.js'
import { commitOperations, positionOf } from './commit-record.js'
import type { CommitRecord } from './commit-record.js'
import type { TaskEnvironment } from './environment.js'
import type { FoldState } from './folder.js'
import { freeze } from './freeze.js'
import type { OpenedStore } from './open-store.js'
import type { RowStore } from './row-store.js'
import { LackingKeys } from './lacking-keys.js'
import { sealRecord } from './seal.js'

export interface CommitterOptions {
  readonly environment: TaskEnvironment
  readonly opened: OpenedStore
  readonly rows: RowStore
  readonly writer: TransactionalWriter
  readonly signal: AbortSignal
  /** Aborted: a write that fails is not tried again. */
  readonly draining: AbortSignal
  /** What a commit that starts now stands for. */
  position(): Pick<CommitRecord, keyof FoldState | 'offset' | 'foldedBy' | 'outputs'>
  /** No journal record is folded in part. */
  isAtRecordBoundary(): boolean
  onFailed(error: Error): void
}

/** Rows changed and not committed: beyond it the fold waits for the commit. */
const MAX_DIRTY_ROWS = 10_000
/** The same of outputs that are not acknowledged: few rows may make many. */
const MAX_OUTPUTS = 50_000
const RETRY_MS = 1000
/**
 * While much waits to be folded, what the changelog lacks is committed and written to it this much later at most: rows that
 * change again meanwhile are written once, and what a crash lets be folded again is in the journal.
 */
const GIVES_WAY_MS = 10_000

/**
 * Commits what a task has folded: every `commitIntervalMs` while there is something, one at a time, the fold going on
 * meanwhile. The order, and what a crash after each step leaves (topology/README.md tells more):
 *
 * 1. freeze the changed rows: nothing is written, all is folded again from the last commit
 * 2. wait until the outputs are acknowledged: as 1, and the outputs are sent again with the same ids
 * 3. write rows, indexes, deadlines, sources and position in one batch: the store is ahead of the changelog, and knows by how much
 * 4. every `changelogIntervalMs` write the keys that the changelog lacks, and a marker, in one transaction
 */
export class Committer {
  readonly #options: CommitterOptions
  #opened: OpenedStore
  #outputs: Promise<unknown>[] = []
  #outputCount = 0
  #running: Promise<void> | undefined
  #cancelTimer: (() => void) | undefined
  #isDue = false
  #committedOffset: number
  readonly #lacking = new LackingKeys()
  #changelog: CommitRecord['changelog']
  #changelogOffset: number
  #changelogDueAt: number
  /** Monotonic time; undefined: nothing is known to be lacking. */
  #changelogLacksSince: number | undefined
  #blocked = ''

  constructor(options: CommitterOptions) {
    this.#options = options
    this.#opened = options.opened
    this.#committedOffset = options.opened.commit.offset
    this.#changelog = options.opened.commit.changelog
    this.#changelogOffset = options.opened.changelogOffset
    this.#changelogDueAt = options.environment.clock.monotonic()
  }

  get committedOffset(): number {
    return this.#committedOffset
  }
  /** Why commits do not get through (a full disk); empty when they do. */
  get blocked(): string {
    return this.#blocked
  }
  /** Digests as of the last freeze. */
  get digest(): OpenedStore['digest'] {
    return this.#opened.digest
  }
  /** All that is committed is in the changelog, too. */
  get isInChangelog(): boolean {
    return this.#changelogOffset === this.#committedOffset
  }
  get lackingKeys(): number {
    return this.#lacking.size
  }

  /** Learns which keys the changelog lacks from an earlier life. */
  async open(): Promise<void> {
    await this.#lacking.load(this.#options.rows.store)
  }

  /** The next commit waits for this, the acknowledgement of so many. */
  addOutputs(acknowledged: Promise<unknown>, count: number): void {
    this.#outputs.push(acknowledged)
    this.#outputCount += count
  }

  /** After folding: there may be something to commit in a while. */
  schedule(): void {
    const { environment, signal } = this.#options
    if (this.#cancelTimer !== undefined || signal.aborted || !this.#hasWork()) return
    this.#changelogLacksSince ??= environment.clock.monotonic()
    this.#cancelTimer = environment.clock.setTimer(() => {
      const atMostMs = Math.min(GIVES_WAY_MS, this.#changelogAt(true) - environment.clock.monotonic())
      void environment.giveWay(signal, atMostMs).then(() =>
        environment.turns.run(() => {
          this.#cancelTimer = undefined
          this.#isDue = true
          this.atRecordBoundary()
        }, 'canWait'),
      )
    }, environment.settings.commitIntervalMs)
  }

  /** Between two records: starts the commit that is due. */
  atRecordBoundary(): void {
    if (this.#isDue) this.#start()
  }

  /** Holds the fold back while too much waits. */
  async makeRoom(): Promise<void> {
    if (this.#options.rows.dirtyRows < MAX_DIRTY_ROWS && this.#outputCount < MAX_OUTPUTS) return
    await this.#running
    this.#start()
  }

  /** Commits all that is folded by now, with the changelog when asked. */
  async commit(options: { readonly changelog: boolean }): Promise<void> {
    await this.#running
    if (options.changelog) this.#changelogDueAt = this.#changelogLacksSince = Number.NEGATIVE_INFINITY
    this.#start()
    await this.#running
  }

  async stop(): Promise<void> {
    this.#cancelTimer?.()
    await this.#running
  }

  /** When it is written, with a commit. */
  #changelogAt(isBehind: boolean): number {
    if (!isBehind || this.#changelogLacksSince === undefined) return this.#changelogDueAt
    return Math.max(this.#changelogDueAt, this.#changelogLacksSince + GIVES_WAY_MS)
  }

  #hasWork(): boolean {
    const { offset } = this.#options.position()
    return offset !== this.#committedOffset || this.#changelogOffset !== this.#committedOffset
  }

  #start(): void {
    const { environment, rows, signal } = this.#options
    if (this.#running !== undefined || signal.aborted || !this.#options.isAtRecordBoundary() || !this.#hasWork()) return
    this.#isDue = false
    const started = environment.clock.monotonic()
    const { incarnation } = this.#options.opened.commit
    const commit = { ...this.#options.position(), incarnation, changelog: this.#changelog }
    const frozen = freeze(rows.tables, this.#opened.digest)
    const { changedKeys } = frozen
    const sealed = this.#opened.digest.serialize()
    const hasMoved = commit.offset !== this.#committedOffset || changedKeys.length > 0
    const lacking = hasMoved ? this.#lacking.commit(commit.offset, changedKeys) : []
    const written = (): Iterable<WriteOperation> => frozen.operations(lacking, commitOperations(commit, sealed))
    const outputs = this.#outputs
    this.#outputs = []
    this.#outputCount = 0
    this.#running = this.#finish(commit, sealed, hasMoved ? written : undefined, outputs)
      .then(() => environment.observer.onCommit(changedKeys.length, environment.clock.monotonic() - started))
      .catch((thrown: unknown) => {
        if (!signal.aborted) this.#options.onFailed(ensureError(thrown))
      })
      .finally(() => {
        this.#running = undefined
        this.schedule()
      })
  }

  async #finish(
    commit: CommitRecord,
    sealed: Buffer,
    written: (() => Iterable<WriteOperation>) | undefined,
    outputs: readonly Promise<unknown>[],
  ): Promise<void> {
    const { environment, rows, signal } = this.#options
    await Promise.all(outputs)
    await environment.probe?.('outputs acknowledged', environment.partition)
    signal.throwIfAborted()
    if (written !== undefined) await this.#write(written, commit.offset)
    rows.finishCommit()
    this.#committedOffset = commit.offset
    await environment.probe?.('store written', environment.partition)
    const isDue = environment.clock.monotonic() >= this.#changelogAt(environment.isBehind())
    if (!isDue || this.#changelogOffset === commit.offset) return
    this.#changelogLacksSince = undefined
    await this.#writeChangelog(commit, sealed)
    this.#changelogDueAt = environment.clock.monotonic() + environment.settings.changelogIntervalMs
    await environment.probe?.('changelog written', environment.partition)
  }

  async #writeChangelog(commit: CommitRecord, sealed: Buffer): Promise<void> {
    const { environment, rows, writer, signal } = this.#options
    const changelog = { topic: environment.changelogTopic, partition: environment.partition }
    const keys = this.#lacking.take()
    try {
      const { digestsTopic, settings } = environment
      const seals = { topic: digestsTopic, partition: environment.partition }
      const seal = { ...seals, records: [sealRecord(commit, sealed, settings.journalRetentionMs)] }
      const end = await writeChangelog(writer, changelog, (some) => rows.committed(some), keys, commit, sealed, seal)
      this.#changelog = { ...this.#changelog, end, offset: commit.offset }
      this.#lacking.written()
      this.#changelogOffset = commit.offset
      environment.observer.onChangelog(keys.length + 1)
    } catch (thrown) {
      this.#lacking.putBack(keys)
      if (thrown instanceof LogError && thrown.code === 'WRITER_FENCED') throw thrown
      if (isDamage(thrown)) throw thrown
      // The changelog may lag: a later commit tries again.
      if (!signal.aborted) environment.observer.onError(ensureError(thrown))
    }
  }

  /** A full disk holds the task up until it has room again; nothing is committed past what was written. */
  async #write(operations: () => Iterable<WriteOperation>, offset: number): Promise<void> {
    const { environment, rows, signal, draining } = this.#options
    for (;;) {
      try {
        await rows.store.write(operations())
        this.#blocked = ''
        return
      } catch (thrown) {
        signal.throwIfAborted()
        if (isDamage(thrown) || !(thrown instanceof StoreError) || draining.aborted) throw thrown
        if (thrown.code !== 'STORE_CLOSED') this.#blocked = thrown.message
        environment.observer.onError(thrown)
        await sleep(environment.clock, RETRY_MS, AbortSignal.any([signal, draining]))
        signal.throwIfAborted()
        await this.#reopen(offset).catch((failure: unknown) => {
          if (isDamage(failure)) throw failure
          environment.observer.onError(ensureError(failure))
        })
      }
    }
  }

  /**
   * A store that met a full disk refuses writes until it is opened anew. It must then stand where it stood, or where the
   * failed write of `offset` has brought it after all.
   */
  async #reopen(offset: number): Promise<void> {
    const { environment, rows } = this.#options
    const { stores, storeName, settings } = environment
    await rows.store.close()
    const store = await stores.open(storeName, { cacheBytes: settings.blockCacheBytes })
    const found = (await positionOf(store)) ?? 0
    if (found !== this.#committedOffset && found !== offset) {
      await store.close()
      throw new StoreError(
        'STORE_CORRUPT',
        `the store stands at offset ${found} after it was opened anew, not at ${this.#committedOffset}`,
      )
    }
    rows.replaceStore(store)
  }
}
