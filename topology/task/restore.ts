import { createStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import { ReusedBytes } from '../../common/reused-bytes.js'
import { EngineError } from '../errors.js'
import type { Log, TopicPartition } from '../log/log.js'
import type { Table } from '../processor.js'
import { parseMarker } from './changelog.js'
import type { Marker } from './changelog.js'
import { commitOperations } from './commit-record.js'
import { indexChanges } from './freeze.js'
import { prefixRange } from './row-store.js'
import { CHANGELOG_MARKER, META, tableRuntimes } from './table-runtime.js'
import type { TableRuntime } from './table-runtime.js'

export interface RestoreProgress {
  readonly restoredRecords: number
  /** Offsets of the changelog: where the restore began, where it is to end, and where it is. */
  readonly startOffset: number
  readonly endOffset: number
  readonly offset: number
}

/** Rows written to the store at once. */
const BATCH_ROWS = 2000
/** Held in memory while the changelog is read; where it has more its rows are written as they come. */
const MOST_HELD_BYTES = 10 * 1024 * 1024
/** About what a row takes beside its bytes. */
const ROW_OVERHEAD_BYTES = 100

/** Newest values by key, a character for each byte: texts take far less memory than Buffers. Null: deleted. */
type HeldRows = Map<string, string | null>

/**
 * Fills an empty store from the changelog: the rows, and their indexes, which the changelog does not hold. What a row was before
 * is written only where the changelog has more rows than are held.
 * Answers the marker, or undefined when the changelog has none. Errors: CHANGELOG_MISMATCH when the rows do not have the
 * digest that the marker sealed (the store is then unusable), TASK_NOT_RUNNING when `signal` ends it.
 */
export async function restoreFromChangelog(
  log: Pick<Log, 'offsets' | 'read'>,
  changelog: TopicPartition,
  store: KeyValueStore,
  tables: readonly Table<unknown>[],
  signal: AbortSignal,
  onProgress: (progress: RestoreProgress) => void,
): Promise<Marker | undefined> {
  const runtimes = tableRuntimes(tables)
  const { start: startOffset, end: endOffset } = await log.offsets(changelog)
  let [offset, end] = [startOffset, endOffset]
  let marker: Marker | undefined
  let restoredRecords = 0
  let held: HeldRows = new Map()
  let heldBytes = 0
  let areAllHeld = true
  for (;;) {
    while (offset < end) {
      throwIfStopped(signal)
      const { records, next } = await log.read(changelog, offset)
      for (const { key, value } of records) {
        if (key === null) continue
        if (!isMeta(key)) held.set(key.toString('latin1'), value?.toString('latin1') ?? null)
        else if (value !== null && key.toString() === CHANGELOG_MARKER) marker = parseMarker(value)
        heldBytes += ROW_OVERHEAD_BYTES + key.length + (value?.length ?? 0)
      }
      areAllHeld &&= heldBytes <= MOST_HELD_BYTES
      if (!areAllHeld) {
        await writeInBatches(store, operationsOf(held))
        held = new Map()
      }
      restoredRecords += records.length
      offset = next
      onProgress({ restoredRecords, startOffset, endOffset: end, offset: Math.min(offset, end) })
    }
    if (marker === undefined && areAllHeld && held.size === 0) return undefined
    // Rows and their marker come in one transaction, so the rows are those of the newest marker.
    const digest = createStoreDigest()
    if (areAllHeld) await writeInBatches(store, indexed(runtimes, held, digest))
    else await indexAll(store, runtimes, digest, signal)
    if (digest.serialize().toString('base64') === marker?.digest) break
    // A standby reads while the owner writes: compaction may have taken a row meanwhile, since a later one has its key.
    const { end: laterEnd } = await log.offsets(changelog)
    if (laterEnd > end) {
      end = laterEnd
      areAllHeld = false
      held = new Map()
      await clearIndexes(store, runtimes)
      continue
    }
    const sealed =
      marker === undefined ? 'it has no marker' : `its marker at journal offset ${marker.offset} sealed another`
    throw new EngineError(
      'CHANGELOG_MISMATCH',
      `changelog ${changelog.topic}/${changelog.partition} does not give its state: ${sealed}`,
    )
  }
  const { digest: sealed, ...commit } = marker
  await store.write(commitOperations(commit, Buffer.from(sealed, 'base64')))
  return marker
}

const [keyBytes, valueBytes] = [new ReusedBytes(), new ReusedBytes()]

/** In bytes that are used again, by other restores, too: they hold until the next is asked for. */
function* operationsOf(rows: HeldRows): Generator<WriteOperation> {
  for (const [key, value] of rows) {
    yield { key: keyBytes.latin1(key), value: value === null ? null : valueBytes.latin1(value) }
  }
}

/** The rows that are, each before its index entries; they are added to the digest. */
function* indexed(runtimes: readonly TableRuntime[], rows: HeldRows, digest: StoreDigest): Generator<WriteOperation> {
  const byPrefix = new Map(runtimes.map((runtime) => [runtime.prefix.charCodeAt(0), runtime]))
  for (const { key, value } of operationsOf(rows)) {
    if (value === null) continue
    // A row of a table that this version does not know is in no digest of it.
    const runtime = byPrefix.get(key[0] ?? 0)
    const isIndexed = runtime !== undefined && runtime.indexes.length > 0
    if (runtime?.digested === true) digest.add(key, value)
    const entries = isIndexed ? indexEntries(runtime, key, value) : NO_ENTRIES
    yield { key, value }
    yield* entries
  }
}

const NO_ENTRIES: readonly WriteOperation[] = []

function indexEntries(runtime: TableRuntime, key: Buffer, value: Buffer): WriteOperation[] {
  const row = runtime.table.codec.decode(value)
  return indexChanges(runtime, key.toString('utf8', 1), undefined, row).map(([entry, text]) => {
    return { key: Buffer.from(entry), value: Buffer.from(text ?? '') }
  })
}

async function clearIndexes(store: KeyValueStore, runtimes: readonly TableRuntime[]): Promise<void> {
  for (const { indexes } of runtimes) {
    for (const { prefix } of indexes) await store.clear(prefixRange(prefix))
  }
}

/** Writes the index entries of all rows of a store, and adds the rows to the digest. */
async function indexAll(
  store: KeyValueStore,
  runtimes: readonly TableRuntime[],
  digest: StoreDigest,
  signal: AbortSignal,
): Promise<void> {
  for (const runtime of runtimes) {
    if (!runtime.digested) continue
    for await (const page of store.entries(prefixRange(runtime.prefix))) {
      throwIfStopped(signal)
      for (const [key, value] of page) digest.add(key, value)
      if (runtime.indexes.length === 0) continue
      await store.write(page.flatMap(([key, value]) => indexEntries(runtime, key, value)))
    }
  }
}

/** A record of the changelog that is no row. */
export function isMeta(key: Buffer): boolean {
  return key[0] === META.charCodeAt(0)
}

/** Errors: TASK_NOT_RUNNING. */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw new EngineError('TASK_NOT_RUNNING', 'the task stops before its restore is done')
}

async function writeInBatches(store: KeyValueStore, operations: Generator<WriteOperation>): Promise<void> {
  let isOver = false
  // Each is asked for when the one before is copied.
  function* batch(): Generator<WriteOperation> {
    for (let count = 0; count < BATCH_ROWS; count++) {
      const { done, value } = operations.next() as IteratorResult<WriteOperation, undefined>
      isOver = done === true
      if (value === undefined) return
      yield value
    }
  }
  while (!isOver) await store.write(batch())
}

/** Anything in the store besides meta rows, or those: it was used before. */
export async function isEmpty(store: KeyValueStore): Promise<boolean> {
  for await (const page of store.entries({ gte: Buffer.from(META), limit: 1 })) return page.length === 0
  return true
}
