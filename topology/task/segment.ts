import type { JournalEntry } from '../journal/entry.js'
import { ensureError } from '../../common/errors.js'
import type { EventPosition, IndexEntry, RowReference } from '../processor.js'
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

/** Entries to fold together; with `next` they end a record, and it is the offset behind that. */
export interface Segment {
  /**
   * Who has folded them empties them: the generator holds them until the next are asked for, which may be long, and all of them
   * would outlive collections of garbage.
   */
  readonly items: FoldItem[]
  readonly next?: number
}

/** A journal record to fold. */
export interface FoldableRecord {
  readonly offset: number
  readonly timestamp: number
  /** Undefined: left out by an audit; the others keep their places. */
  readonly entries: Iterable<JournalEntry | undefined>
  /** Index of the first entry; default 0. */
  readonly firstIndex?: number
}

/** Cuts records into segments of about `size` entries; an entry that needs a scan is a segment of its own. */
export function* segmentsOf(folder: Folder, records: Iterable<FoldableRecord>, size: number): Generator<Segment> {
  let items: FoldItem[] = []
  let next: number | undefined
  for (const { offset, timestamp, entries, firstIndex = 0 } of records) {
    let place = firstIndex
    for (const entry of entries) {
      const index = place++
      if (entry === undefined) continue
      const reads = folder.reads(entry)
      if (items.length > 0 && (reads.scan !== undefined || items.length >= size)) {
        yield { items }
        items = []
      }
      items.push({ entry, position: { offset, index }, timestamp, reads })
      if (reads.scan === undefined) continue
      yield { items }
      items = []
    }
    next = offset + 1
    if (items.length < size) continue
    yield { items, next }
    items = []
  }
  if (items.length > 0 && next !== undefined) yield { items, next }
}

/**
 * Loads what the entries need, then folds them one after another without giving way. An entry with a scan must be the only
 * one: its scan sees what all before have done. `inTurn` says when to fold.
 */
export async function foldSegment(
  rows: RowStore,
  folder: Folder,
  segment: readonly FoldItem[],
  inTurn: (fold: () => void) => Promise<void> | void = (fold) => fold(),
): Promise<void> {
  const references: RowReference[] = []
  for (const { reads } of segment) for (const reference of reads.rows) references.push(reference)
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
  await inTurn(() => {
    for (const { entry, position, timestamp, reads } of segment) {
      folder.fold(entry, position, timestamp, scanned, reads.failure ?? scanFailure)
    }
    folder.endSegment()
    rows.endSegment()
  })
}
