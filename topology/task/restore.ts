import { createStoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import { EngineError } from '../errors.js'
import type { Log, TopicPartition } from '../log/log.js'
import type { Table } from '../processor.js'
import { parseMarker } from './changelog.js'
import type { Marker } from './changelog.js'
import { commitOperations } from './commit-record.js'
import { indexChanges } from './freeze.js'
import { prefixRange } from './row-store.js'
import { CHANGELOG_MARKER, META, tableRuntimes } from './table-runtime.js'

export interface RestoreProgress {
  readonly restoredRecords: number
  /** Offsets of the changelog: where the restore began, where it is to end, and where it is. */
  readonly startOffset: number
  readonly endOffset: number
  readonly offset: number
}

/** Rows written to the store at once. */
const BATCH_ROWS = 5000

/**
 * Fills an empty store from the changelog: the rows, then their indexes, which the changelog does not hold.
 * Answers the marker, or undefined when the changelog has none. Errors: CHANGELOG_MISMATCH when the rows do not have the
 * digest that the marker sealed (the store is then unusable), TASK_NOT_RUNNING when `signal` ends it.
 */
export async function restoreFromChangelog(
  log: Log,
  changelog: TopicPartition,
  store: KeyValueStore,
  tables: readonly Table<unknown>[],
  signal: AbortSignal,
  onProgress: (progress: RestoreProgress) => void,
): Promise<Marker | undefined> {
  const { start: startOffset, end: endOffset } = await log.offsets(changelog)
  let [offset, end] = [startOffset, endOffset]
  let marker: Marker | undefined
  let restoredRecords = 0
  let hasRows = false
  for (;;) {
    while (offset < end) {
      throwIfStopped(signal)
      const { records, next } = await log.read(changelog, offset)
      const operations: WriteOperation[] = []
      for (const { key, value } of records) {
        if (key === null) continue
        if (!isMeta(key)) operations.push({ key, value })
        else if (value !== null && key.toString() === CHANGELOG_MARKER) marker = parseMarker(value)
      }
      await writeInBatches(store, operations)
      hasRows ||= operations.length > 0
      restoredRecords += records.length
      offset = next
      onProgress({ restoredRecords, startOffset, endOffset: end, offset: Math.min(offset, end) })
    }
    if (marker === undefined && !hasRows) return undefined
    // Rows and their marker come in one transaction, so the rows are those of the newest marker.
    const digest = await buildIndexes(store, tables, signal)
    if (digest.toString('base64') === marker?.digest) break
    // A standby reads while the owner writes: compaction may have taken a row meanwhile, since a later one has its key.
    const { end: laterEnd } = await log.offsets(changelog)
    if (laterEnd > end) {
      end = laterEnd
      await clearIndexes(store, tables)
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

async function clearIndexes(store: KeyValueStore, tables: readonly Table<unknown>[]): Promise<void> {
  for (const { indexes } of tableRuntimes(tables)) {
    for (const { prefix } of indexes) await store.clear(prefixRange(prefix))
  }
}

/** Derives the index entries of all rows, and the digest. */
async function buildIndexes(
  store: KeyValueStore,
  tables: readonly Table<unknown>[],
  signal: AbortSignal,
): Promise<Buffer> {
  const digest = createStoreDigest()
  for (const runtime of tableRuntimes(tables)) {
    if (!runtime.digested) continue
    for await (const page of store.entries(prefixRange(runtime.prefix))) {
      throwIfStopped(signal)
      const operations: WriteOperation[] = []
      for (const [key, value] of page) {
        digest.add(key, value)
        if (runtime.indexes.length === 0) continue
        const row = runtime.table.codec.decode(value)
        for (const [entry, text] of indexChanges(runtime, key.toString('utf8', 1), undefined, row)) {
          operations.push({ key: Buffer.from(entry), value: Buffer.from(text ?? '') })
        }
      }
      if (operations.length > 0) await store.write(operations)
    }
  }
  return digest.serialize()
}

/** A record of the changelog that is no row. */
export function isMeta(key: Buffer): boolean {
  return key[0] === META.charCodeAt(0)
}

/** Errors: TASK_NOT_RUNNING. */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw new EngineError('TASK_NOT_RUNNING', 'the task stops before its restore is done')
}

async function writeInBatches(store: KeyValueStore, operations: readonly WriteOperation[]): Promise<void> {
  for (let i = 0; i < operations.length; i += BATCH_ROWS) await store.write(operations.slice(i, i + BATCH_ROWS))
}

/** Anything in the store besides meta rows, or those: it was used before. */
export async function isEmpty(store: KeyValueStore): Promise<boolean> {
  for await (const page of store.entries({ gte: Buffer.from(META), limit: 1 })) return page.length === 0
  return true
}
