import type { JournalEntry } from '../journal/entry.js'
import { ensureError } from '../../common/errors.js'
import type { EventPosition, IndexEntry } from '../processor.js'
import type { Folder, FoldReads } from './folder.js'
import { scanIndex } from './row-scan.js'
import type { RowStore } from './row-store.js'

/** An entry to fold, with where it stands and what it needs. */
export interface FoldItem {
  readonly entry: JournalEntry
  readonly position: EventPosition
  readonly timestamp: number
  readonly reads: FoldReads
}

/**
 * Loads what the entries need, then folds them one after another without giving way. An entry with a scan must be the only
 * one: its scan sees what all before have done.
 */
export async function foldSegment(rows: RowStore, folder: Folder, segment: readonly FoldItem[]): Promise<void> {
  const references = segment.flatMap(({ reads }) => reads.rows)
  const scan = segment[0]?.reads.scan
  const scanned: IndexEntry[] = []
  let scanFailure: Error | undefined
  if (scan !== undefined) {
    for await (const page of scanIndex(rows, rows.state(scan.table), scan.index, scan.range)) scanned.push(...page)
    try {
      const led = scan.thenRows?.(scanned) ?? []
      for (const { table } of led) rows.state(table)
      references.push(...led)
    } catch (thrown) {
      scanFailure = ensureError(thrown)
    }
  }
  await rows.load(references)
  for (const { entry, position, timestamp, reads } of segment) {
    folder.fold(entry, position, timestamp, scanned, reads.failure ?? scanFailure)
  }
  folder.endSegment()
  rows.endSegment()
}
