import { createStoreDigest, deserializeStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import { EngineError } from '../errors.js'
import type { Log, RecordBatch, TopicPartition } from '../log/log.js'
import type { Table } from '../processor.js'
import { parseMarker } from './changelog.js'
import type { Marker } from './changelog.js'
import { commitOperations } from './commit-record.js'
import type { CommitRecord } from './commit-record.js'
import { indexChanges } from './freeze.js'
import { isMeta } from './restore.js'
import { prefixRange } from './row-store.js'
import { CHANGELOG_MARKER, LACKING, tableRuntimes } from './table-runtime.js'
import type { TableRuntime } from './table-runtime.js'

export interface FollowerOptions {
  readonly log: Log
  readonly changelog: TopicPartition
  readonly store: KeyValueStore
  readonly tables: readonly Table<unknown>[]
  /** What the store stands for; absent: it is empty. */
  readonly position: { readonly commit: CommitRecord; readonly digest: StoreDigest } | undefined
  /** Told what the store holds by now. */
  readonly onApplied?: (rows: readonly AppliedRow[]) => void
}

/** A row of the changelog; undefined: none. */
export interface AppliedRow {
  readonly runtime: TableRuntime
  /** With the table's prefix. */
  readonly key: Buffer
  readonly before: Buffer | undefined
  readonly after: Buffer | undefined
}

/** Rows held until a marker's digest agrees; beyond it the store is rebuilt, which takes no more. */
const MAX_PENDING_ROWS = 200_000

/**
 * Brings a store on by what the changelog holds beyond it: rows, indexes, digests and position in one batch for each newest
 * marker. Rows that are not beyond the store's position are skipped. Compaction may have taken a row of one transaction
 * since a later one has the key; so a marker whose digest does not agree waits for the next.
 */
export class ChangelogFollower {
  readonly #options: FollowerOptions
  readonly #byPrefix: ReadonlyMap<string, TableRuntime>
  #commit: CommitRecord | undefined
  #digest: StoreDigest
  #next: number | undefined
  /** Rows of the transaction whose marker is not read yet. */
  #open = new Map<string, Buffer | null>()
  /** Rows up to `#candidate`, which the store does not hold yet. */
  #pending = new Map<string, Buffer | null>()
  #candidate: Marker | undefined
  #newestMarker: Marker | undefined
  #isLackingCleared = false
  /** A marker has told that the changelog had all that the store had. */
  #lacksNothing = false

  constructor(options: FollowerOptions) {
    const { position, tables } = options
    this.#options = options
    this.#byPrefix = new Map(tableRuntimes(tables).map((runtime) => [runtime.prefix, runtime]))
    this.#commit = position?.commit
    this.#digest = position?.digest ?? createStoreDigest()
  }

  /** What the store stands for; absent: nothing yet. */
  get commit(): CommitRecord | undefined {
    return this.#commit
  }
  get digest(): StoreDigest {
    return this.#digest
  }
  /** The newest marker read, applied or skipped. */
  get newestMarker(): Marker | undefined {
    return this.#newestMarker
  }
  /**
   * Reads and applies one portion; answers where it stands and where the changelog ends. Errors: CHANGELOG_MISMATCH when at the end the rows do not
   * have the digest that the marker sealed, or too many wait; those of log and store.
   */
  async advance(): Promise<{ readonly next: number; readonly end: number }> {
    const { log, changelog } = this.#options
    this.#next ??= Math.max(this.#commit?.changelog.end ?? 0, (await log.offsets(changelog)).start)
    const batch = await log.read(changelog, this.#next)
    this.#collect(batch)
    const isApplied = this.#candidate === undefined || (await this.#apply(this.#candidate))
    this.#next = batch.next
    if (!isApplied && batch.next >= batch.end) {
      throw this.#mismatch(`its marker at journal offset ${this.#candidate?.offset ?? 0} sealed another`)
    }
    if (this.#pending.size + this.#open.size > MAX_PENDING_ROWS) throw this.#mismatch('the store is too far behind it')
    return { next: batch.next, end: batch.end }
  }

  /** Where the changelog turned out to have all that the store has: takes the note of what it lacks away. */
  async forgetLacking(): Promise<void> {
    if (!this.#lacksNothing || this.#isLackingCleared) return
    const operations = await this.#clearLacking()
    if (operations.length > 0) await this.#options.store.write(operations)
  }

  #collect({ records }: RecordBatch): void {
    for (const { key, value } of records) {
      if (key === null) continue
      if (!isMeta(key)) {
        this.#open.set(key.toString(), value)
      } else if (value !== null && key.toString() === CHANGELOG_MARKER) {
        const marker = parseMarker(value)
        this.#newestMarker = marker
        const { offset = -1, foldedBy } = this.#commit ?? {}
        if (marker.offset === offset && marker.foldedBy === foldedBy) this.#lacksNothing = true
        if (marker.offset > (this.#commit?.offset ?? -1)) {
          for (const [row, bytes] of this.#open) this.#pending.set(row, bytes)
          this.#candidate = marker
        }
        this.#open.clear()
      }
    }
  }

  /** False when the digest does not agree: nothing was written. */
  async #apply(marker: Marker): Promise<boolean> {
    const { store, onApplied } = this.#options
    const changes = await this.#changes()
    const digest = deserializeStoreDigest(this.#digest.serialize())
    for (const { runtime, key, before, after } of changes) {
      if (!runtime.digested) continue
      if (before !== undefined) digest.remove(key, before)
      if (after !== undefined) digest.add(key, after)
    }
    const serialized = digest.serialize()
    if (serialized.toString('base64') !== marker.digest) return false
    const { digest: _sealed, ...commit } = marker
    const lists = await this.#clearLacking()
    const rows = changes.flatMap(operationsOf)
    await store.write([...rows, ...lists, ...commitOperations(commit, serialized)])
    this.#commit = commit
    this.#digest = digest
    this.#pending.clear()
    this.#candidate = undefined
    onApplied?.(changes)
    return true
  }

  /** Rows of tables that this version does not know are left out: the digest tells. */
  async #changes(): Promise<AppliedRow[]> {
    const pending = [...this.#pending].flatMap(([name, after]) => {
      const runtime = this.#byPrefix.get(name.slice(0, 1))
      return runtime === undefined ? [] : [{ runtime, key: Buffer.from(name), after: after ?? undefined }]
    })
    const before = await this.#options.store.getMany(pending.map(({ key }) => key))
    return pending.map((change, i) => ({ ...change, before: before[i] }))
  }

  /**
   * Forgets which keys the changelog lacked, since another owner has written them by now. What that owner has not written came
   * back to what it was before, and here it is as it was in between: then the store is useless.
   */
  async #clearLacking(): Promise<WriteOperation[]> {
    if (this.#isLackingCleared) return []
    const operations: WriteOperation[] = []
    for await (const page of this.#options.store.entries(prefixRange(LACKING))) {
      for (const [list, keys] of page) {
        operations.push({ key: list, value: null })
        if (this.#lacksNothing) continue
        for (const key of JSON.parse(keys.toString()) as string[]) {
          if (!this.#pending.has(key)) throw this.#mismatch('the store has changed rows that it does not tell of')
        }
      }
    }
    this.#isLackingCleared = true
    return operations
  }

  #mismatch(what: string): EngineError {
    const { topic, partition } = this.#options.changelog
    return new EngineError('CHANGELOG_MISMATCH', `changelog ${topic}/${partition} does not give its state: ${what}`)
  }
}

function operationsOf({ runtime, key, before, after }: AppliedRow): WriteOperation[] {
  const row = { key, value: after ?? null }
  if (runtime.indexes.length === 0) return [row]
  const { codec } = runtime.table
  const entries = indexChanges(
    runtime,
    key.toString('utf8', 1),
    before && codec.decode(before),
    after && codec.decode(after),
  )
  return [
    row,
    ...entries.map(([entry, text]) => ({
      key: Buffer.from(entry),
      value: text === null ? null : Buffer.from(text),
    })),
  ]
}
