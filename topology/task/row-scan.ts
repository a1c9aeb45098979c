import type { Entry, KeyRange } from '../../state-stores/key-value-store.js'
import { compareText, entriesOver, textsOver } from '../../state-stores/overlay.js'
import { EngineError } from '../errors.js'
import type { IndexEntry, ScanRange, Table } from '../processor.js'
import { indexChanges } from './freeze.js'
import type { RowStore, TableState } from './row-store.js'
import type { IndexRuntime } from './table-runtime.js'

/** Pages of a table's rows in key order, uncommitted ones included, as of this call. */
export function scanRows(
  store: RowStore,
  state: TableState,
  range: ScanRange,
): AsyncIterable<readonly (readonly [key: string, row: unknown])[]> {
  const { table, prefix } = state.runtime
  const changes = new Map<string, Buffer | null>()
  for (const generation of [state.committing, state.current]) {
    for (const [key, { row }] of generation ?? []) {
      if (isInside(range, key)) changes.set(prefix + key, row === undefined ? null : table.codec.encode(row))
    }
  }
  const pages = entriesOver(store.store, sorted(changes), boundsOf(prefix, range))
  return decodedPages(store, table, pages)
}

/** A row that cannot be decoded is looked up, which tells whether that is damage. Errors: STORE_CORRUPT. */
async function* decodedPages(
  { store }: RowStore,
  { codec }: Table<unknown>,
  pages: AsyncIterable<readonly Entry[]>,
): AsyncGenerator<(readonly [key: string, row: unknown])[]> {
  for await (const page of pages) {
    const rows: (readonly [string, unknown])[] = []
    for (const [key, value] of page) {
      try {
        rows.push([key.toString('utf8', 1), codec.decode(value)])
      } catch (thrown) {
        await store.get(key)
        throw thrown
      }
    }
    yield rows
  }
}

/** Pages of an index's entries in key order, those of uncommitted rows included, as of this call. */
export function scanIndex(
  store: RowStore,
  state: TableState,
  indexName: string,
  range: ScanRange,
): AsyncIterable<readonly Required<IndexEntry>[]> {
  const { runtime } = state
  const index = indexOf(state, indexName)
  const changes = new Map<string, Buffer | null>()
  for (const generation of [state.committing, state.current]) {
    for (const [key, { row, base }] of generation ?? []) {
      for (const [entryKey, value] of indexChanges(runtime, key, base?.row, row)) {
        if (!entryKey.startsWith(index.prefix) || !isInside(range, entryKey.slice(1))) continue
        changes.set(entryKey, value === null ? null : Buffer.from(value))
      }
    }
  }
  const pages = textsOver(store.store, sorted(changes), boundsOf(index.prefix, range))
  return mapPages(pages, ([key, value]) => ({ key: key.slice(1), value }))
}

/** Errors: ROW_NOT_DECLARED when the table has no such index. */
export function indexOf({ runtime }: TableState, name: string): IndexRuntime {
  const index = runtime.indexes.find((candidate) => candidate.name === name)
  if (index === undefined) throw new EngineError('ROW_NOT_DECLARED', `table ${runtime.table.name} has no index ${name}`)
  return index
}

function boundsOf(prefix: string, range: ScanRange): KeyRange {
  const from = Buffer.from(prefix + (range.prefix ?? ''))
  const end = Buffer.from(from)
  end[end.length - 1] = (end[end.length - 1] ?? 0) + 1
  const after = range.after === undefined ? undefined : Buffer.from(prefix + range.after)
  const before = range.before === undefined ? undefined : Buffer.from(prefix + range.before)
  return {
    ...(after !== undefined && after.compare(from) >= 0 ? { gt: after } : { gte: from }),
    lt: before !== undefined && before.compare(end) < 0 ? before : end,
    ...(range.limit !== undefined && { limit: range.limit }),
  }
}

function isInside(range: ScanRange, key: string): boolean {
  return (
    key.startsWith(range.prefix ?? '') &&
    (range.after === undefined || compareText(key, range.after) > 0) &&
    (range.before === undefined || compareText(key, range.before) < 0)
  )
}

function sorted(changes: ReadonlyMap<string, Buffer | null>): (readonly [Buffer, Buffer | null])[] {
  return [...changes].map(([key, value]) => [Buffer.from(key), value] as const).sort(([a], [b]) => a.compare(b))
}

async function* mapPages<From, To>(
  pages: AsyncIterable<readonly From[]>,
  map: (item: From) => To,
): AsyncGenerator<To[]> {
  for await (const page of pages) yield page.map(map)
}
