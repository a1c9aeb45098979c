import { ReusedBytes } from '../../common/reused-bytes.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import type { WriteOperation } from '../../state-stores/key-value-store.js'
import type { IndexEntry } from '../processor.js'
import { bytesOf, encodedOf } from './row-store.js'
import type { DirtyRow, TableState } from './row-store.js'
import type { TableRuntime } from './table-runtime.js'

/** The rows of one commit. */
export interface FrozenRows {
  /** Store keys of the rows that have changed. */
  readonly changedKeys: readonly string[]
  /**
   * One atomic batch: rows and their index entries, then what else belongs to it. Made as they are asked for, in bytes that
   * are used again: most of a commit's objects would else outlive many collections of garbage.
   */
  readonly operations: (...others: readonly (readonly WriteOperation[])[]) => Iterable<WriteOperation>
}

interface Generation {
  readonly runtime: TableRuntime
  readonly rows: ReadonlyMap<string, DirtyRow>
}

const keyBytes = new ReusedBytes()

/** Encodes what folds have changed since the last freeze, moves it to `committing` and the digest along. */
export function freeze(tables: readonly TableState[], digest: StoreDigest): FrozenRows {
  const changedKeys: string[] = []
  const generations: Generation[] = []
  for (const state of tables) {
    const { runtime, current } = state
    state.committing = undefined
    if (current.size === 0) continue
    state.committing = current
    state.current = new Map()
    generations.push({ runtime, rows: current })
    for (const [key, dirty] of current) {
      if (dirty.row !== undefined) dirty.encoded = encodedOf(state, dirty.row)
      if (!isChanged(dirty)) continue
      const storeKey = runtime.prefix + key
      changedKeys.push(storeKey)
      if (runtime.digested) digestChange(digest, keyBytes.utf8(storeKey), dirty)
    }
  }
  return { changedKeys, operations: (...others) => operationsOf(generations, others) }
}

/** False when the row is again what the store holds. */
function isChanged({ base, encoded }: DirtyRow): boolean {
  if (base === undefined) return true
  if (typeof encoded !== 'object' || typeof base.encoded !== 'object') return base.encoded !== encoded
  return !encoded.equals(base.encoded)
}

function digestChange(digest: StoreDigest, storeKey: Buffer, { base, encoded }: DirtyRow): void {
  if (base?.encoded !== undefined) digest.remove(storeKey, bytesOf(base.encoded))
  if (encoded !== undefined) digest.add(storeKey, bytesOf(encoded))
}

function* operationsOf(
  generations: readonly Generation[],
  others: readonly (readonly WriteOperation[])[],
): Generator<WriteOperation, void> {
  for (const { runtime, rows } of generations) {
    for (const [key, dirty] of rows) {
      if (!isChanged(dirty)) continue
      const { base, row, encoded } = dirty
      yield { key: keyBytes.utf8(runtime.prefix + key), value: encoded === undefined ? null : bytesOf(encoded) }
      if (runtime.indexes.length === 0) continue
      for (const [entryKey, value] of indexChanges(runtime, key, base?.row, row)) {
        yield { key: Buffer.from(entryKey), value: value === null ? null : Buffer.from(value) }
      }
    }
  }
  for (const some of others) yield* some
}

export type IndexChange = readonly [entryKey: string, value: string | null]

const NO_ENTRIES: readonly IndexEntry[] = []
const NO_CHANGES: readonly IndexChange[] = []

/** Index entries that come (value) and go (null) when a row changes; keys with their index's prefix. */
export function indexChanges(
  runtime: TableRuntime,
  key: string,
  before: unknown,
  after: unknown,
): readonly IndexChange[] {
  let changes = NO_CHANGES
  for (const { name, prefix } of runtime.indexes) {
    const index = runtime.table.indexes?.[name]
    const old = before === undefined ? NO_ENTRIES : (index?.entries(key, before) ?? NO_ENTRIES)
    const now = after === undefined ? NO_ENTRIES : (index?.entries(key, after) ?? NO_ENTRIES)
    if (old.length > 0 || now.length > 0) changes = [...changes, ...entryChanges(prefix, old, now)]
  }
  return changes
}

function entryChanges(prefix: string, old: readonly IndexEntry[], now: readonly IndexEntry[]): IndexChange[] {
  const changes: IndexChange[] = []
  const gone = new Map<string, string>()
  for (const { key, value = '' } of old) gone.set(prefix + key, value)
  for (const { key, value = '' } of now) {
    const entryKey = prefix + key
    if (gone.get(entryKey) !== value) changes.push([entryKey, value])
    gone.delete(entryKey)
  }
  for (const entryKey of gone.keys()) changes.push([entryKey, null])
  return changes
}
