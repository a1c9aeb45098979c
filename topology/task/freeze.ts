import type { StoreDigest } from '../../state-stores/digest.js'
import type { WriteOperation } from '../../state-stores/key-value-store.js'
import type { DirtyRow, TableState } from './row-store.js'
import type { TableRuntime } from './table-runtime.js'

/**
 * Turns what folds have changed since the last freeze into the operations of one atomic batch: rows and their index entries;
 * moves the rows to `committing` and the digest along. Answers, too, which keys have changed.
 */
export function freeze(
  tables: readonly TableState[],
  digest: StoreDigest,
): { readonly operations: WriteOperation[]; readonly changedKeys: readonly string[] } {
  const operations: WriteOperation[] = []
  const changedKeys: string[] = []
  for (const state of tables) {
    const { runtime, current } = state
    state.committing = current
    state.current = new Map()
    for (const [key, dirty] of current) {
      if (freezeRow(runtime, key, dirty, digest, operations)) changedKeys.push(runtime.prefix + key)
    }
  }
  return { operations, changedKeys }
}

/** False when the row is again what the store holds. */
function freezeRow(
  runtime: TableRuntime,
  key: string,
  dirty: DirtyRow,
  digest: StoreDigest,
  operations: WriteOperation[],
): boolean {
  const { base, row } = dirty
  if (row !== undefined && dirty.bytes === undefined) dirty.bytes = runtime.table.codec.encode(row)
  const { bytes } = dirty
  const before = base?.bytes
  if (base !== undefined && (bytes === undefined ? before === undefined : before?.equals(bytes) === true)) return false
  const storeKey = Buffer.from(runtime.prefix + key)
  operations.push({ key: storeKey, value: bytes ?? null })
  if (runtime.digested) {
    if (before !== undefined) digest.remove(storeKey, before)
    if (bytes !== undefined) digest.add(storeKey, bytes)
  }
  if (runtime.indexes.length > 0) {
    for (const [entryKey, value] of indexChanges(runtime, key, base?.row, row)) {
      operations.push({ key: Buffer.from(entryKey), value: value === null ? null : Buffer.from(value) })
    }
  }
  return true
}

/** Index entries that come (value) and go (null) when a row changes; keys with their index's prefix. */
export function indexChanges(
  runtime: TableRuntime,
  key: string,
  before: unknown,
  after: unknown,
): Map<string, string | null> {
  const changes = new Map<string, string | null>()
  for (const { name, prefix } of runtime.indexes) {
    const index = runtime.table.indexes?.[name]
    if (index === undefined) continue
    const old = new Map<string, string>()
    if (before !== undefined)
      for (const entry of index.entries(key, before)) old.set(prefix + entry.key, entry.value ?? '')
    if (after !== undefined) {
      for (const entry of index.entries(key, after)) {
        const entryKey = prefix + entry.key
        if (old.get(entryKey) !== (entry.value ?? '')) changes.set(entryKey, entry.value ?? '')
        old.delete(entryKey)
      }
    }
    for (const gone of old.keys()) changes.set(gone, null)
  }
  return changes
}
