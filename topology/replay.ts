import { createStoreDigest } from '../state-stores/digest.js'
import type { StoreDigest } from '../state-stores/digest.js'
import type { KeyValueStore } from '../state-stores/key-value-store.js'
import { blockCodec } from './journal/block-codec.js'
import { readableRecords } from './journal/readable-records.js'
import type { DecodedRecord } from './journal/readable-records.js'
import type { Log, LogRecord, TopicPartition } from './log/log.js'
import type { Processor } from './processor.js'
import { Folder } from './task/folder.js'
import { freeze } from './task/freeze.js'
import { RowStore } from './task/row-store.js'
import { foldSegment, segmentsOf } from './task/segment.js'

export interface ReplayOptions {
  readonly log: Log
  readonly processor: Processor
  readonly journal: TopicPartition
  /** Empty; holds the folded rows afterwards. */
  readonly store: KeyValueStore
  readonly rowCacheBytes: number
  /** Folds records before this offset; default: all there are at the start. */
  readonly to?: number
  /** Told of each foreign record, which is skipped as its task has skipped it. */
  readonly onUnreadable?: (error: Error) => void
}

export interface Replayed {
  readonly entries: number
  /** Journal offset that the store stands for. */
  readonly offset: number
  readonly digest: StoreDigest
}

/** Rows held in memory before they are written: bounds memory, and writes a key that changes often once. */
const MAX_DIRTY_ROWS = 20_000
const SEGMENT_ENTRIES = 1000
const READ_BYTES = 1024 * 1024

/**
 * Folds a journal partition into an empty store, as its task did: same entries, same rows, same digest. Writes nothing else:
 * outputs, sends, effects and answers are dropped, and no position moves.
 */
export async function replay(options: ReplayOptions): Promise<Replayed> {
  const { log, processor, journal, store } = options
  const codec = blockCodec(processor.events)
  const rows = new RowStore(store, processor.tables, options.rowCacheBytes)
  const digest = createStoreDigest()
  const folder = new Folder(
    {
      processor,
      partition: journal.partition,
      journal: journal.topic,
      rows,
      codec,
      onConsequence: () => undefined,
      onCount: () => undefined,
    },
    { time: 0, epoch: 0, foldVersion: processor.foldVersion, settings: null },
  )
  const { start, end } = await log.offsets(journal)
  const to = Math.min(options.to ?? end, end)
  let entries = 0

  async function write(): Promise<void> {
    await store.write(freeze(rows.tables, digest).operations())
    rows.finishCommit()
  }

  const decoded = (records: readonly LogRecord[]): Iterable<DecodedRecord> => {
    const wanted = records.filter(({ offset }) => offset < to)
    return readableRecords(codec, journal, wanted, (error) => options.onUnreadable?.(error))
  }

  let offset = start
  while (offset < to) {
    const batch = await log.read(journal, offset, { maxBytes: READ_BYTES })
    for (const { items } of segmentsOf(folder, decoded(batch.records), SEGMENT_ENTRIES)) {
      await foldSegment(rows, folder, items)
      entries += items.length
      if (rows.dirtyRows >= MAX_DIRTY_ROWS) await write()
    }
    offset = batch.next
  }
  await write()
  return { entries, offset: to, digest }
}
