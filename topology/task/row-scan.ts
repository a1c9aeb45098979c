import type { KeyRange } from '../../state-stores/key-value-store.js'
import { mergeOverlay, mergeTextOverlay } from '../../state-stores/overlay.js'
import { EngineError } from '../errors.js'
import type { IndexEntry, ScanRange } from '../processor.js'
import { indexChanges } from './freeze.js'
import type { RowStore, TableState } from './row-store.js'

/** Pages of a table's rows in key order, uncommitted ones included, as of this call. */
export function scanRows(
  store: RowStore,
  state: TableState,
  range: ScanRange,
): AsyncIterable<readonly (readonly [key: string, row: unknown])[]> {
  const { runtime } = state
  const bounds = boundsOf(runtime.prefix, range)
  const overlay = new Map<string, Buffer | null>()
  for (const dirty of [state.committing, state.current]) {
    for (const [key, { row }] of dirty ?? []) {
      if (isInside(range, key)) overlay.set(runtime.prefix + key, row === undefined ? null : runtime.table.codec.encode(row))
    }
  }
  const merged = mergeOverlay(store.store.entries(bounds), sorted(overlay), limitOf(range))
  return decodePages(merged, (key, value) => [key.toString('utf8', 1), runtime.table.codec.decode(value)] as const)
}

/** Pages of an index's entries in key order, those of uncommitted rows included, as of this call. */
export function scanIndex(
  store: RowStore,
  state: TableState,
  indexName: string,
  range: ScanRange,
): AsyncIterable<readonly Required<IndexEntry>[]> {
  const { runtime } = state
  const index = runtime.indexes.find((candidate) => candidate.name === indexName)
  if (index === undefined) throw new EngineError('ROW_NOT_DECLARED', `table ${runtime.table.name} has no index ${indexName}`)
  const overlay = new Map<string, string | null>()
  for (const dirty of [state.committing, state.current]) {
    for (const [key, { row, base }] of dirty ?? []) {
      for (const [entryKey, value] of indexChanges(runtime, key, base?.row, row)) {
        if (entryKey.startsWith(index.prefix) && isInside(range, entryKey.slice(1))) overlay.set(entryKey, value)
      }
    }
  }
  const bounds = boundsOf(index.prefix, range)
  const merged = mergeTextOverlay(store.store.texts(bounds), sorted(overlay), limitOf(range))
  return decodePages(merged, (key, value) => ({ key: key.slice(1), value }))
}

function boundsOf(prefix: string, range: ScanRange): KeyRange {
  const start = prefix + (range.prefix ?? '')
  const after = range.after === undefined ? undefined : Buffer.from(prefix + range.after)
  const from = Buffer.from(start)
  const end = range.before === undefined ? afterPrefix(from) : Buffer.from(prefix + range.before)
  return after !== undefined && Buffer.compare(after, from) >= 0 ? { gt: after, lt: end } : { gte: from, lt: end }
}

/** The first key after all that begin with these bytes. */
function afterPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix)
  end[end.length - 1] = (end[end.length - 1] ?? 0) + 1
  return end
}

function isInside(range: ScanRange, key: string): boolean {
  return (
    key.startsWith(range.prefix ?? '') &&
    (range.after === undefined || compareText(key, range.after) > 0) &&
    (range.before === undefined || compareText(key, range.before) < 0)
  )
}

/** UTF-8 byte order, which is the store's; JavaScript's own differs beyond the basic plane. */
function compareText(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function sorted<Value>(overlay: Map<string, Value>): (readonly [Buffer, Value])[] {
  return [...overlay].map(([key, value]) => [Buffer.from(key), value] as const).sort((a, b) => Buffer.compare(a[0], b[0]))
}

function limitOf(range: ScanRange): { readonly limit?: number } {
  return range.limit === undefined ? {} : { limit: range.limit }
}

async function* decodePages<Key, Value, Item>(
  pages: AsyncIterable<readonly (readonly [Key, Value])[]>,
  decode: (key: Key, value: Value) => Item,
): AsyncGenerator<Item[]> {
  for await (const page of pages) yield page.map(([key, value]) => decode(key, value))
}
