import { createStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import { blockCodec } from '../journal/block-codec.js'
import type { BlockCodec } from '../journal/block-codec.js'
import { readableRecords } from '../journal/readable-records.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import type { LogRecord, TopicPartition } from '../log/log.js'
import type { Processor } from '../processor.js'
import { Folder } from '../task/folder.js'
import type { Folded } from '../task/folder.js'
import { freeze } from '../task/freeze.js'
import { RowStore } from '../task/row-store.js'
import { foldSegment, segmentsOf } from '../task/segment.js'
import type { FoldableRecord } from '../task/segment.js'
import type { OwnerEntry } from '../journal/entry.js'
import { missingFrom } from './journal-source.js'
import type { Gap, JournalReader, Snapshot } from './journal-source.js'
import { loadedRecords, unloadedRecords } from './loaded-records.js'
import { missingBefore, missingBehind } from './moment.js'
import type { Moment } from './moment.js'

export interface JournalFoldOptions {
  readonly reader: JournalReader
  readonly processor: Processor
  readonly journal: TopicPartition
  /** Empty; holds the folded rows afterwards. */
  readonly store: KeyValueStore
  /** Topic of the other site's journal, where two sites have one log. */
  readonly peerJournal?: string | undefined
  /** What is known to be missing of the journal, or to have been loaded. */
  readonly knownGaps?: readonly Gap[] | undefined
  /** What is read has nothing of the journal, as an audit pack has of other partitions. */
  readonly isAbsent?: boolean | undefined
  /** Where to begin; default: an empty state at the journal's start. */
  readonly snapshot?: Snapshot | undefined
  /**
   * The records to fold in place of one that was read. With `segmentEntries` 1 all before are folded when it is asked for
   * the next.
   */
  readonly rewrite?: ((record: DecodedRecord) => Iterable<FoldableRecord>) | undefined
  /** Entries folded together; default 1000. */
  readonly segmentEntries?: number | undefined
  /** What each entry did, and why. */
  readonly onFolded?: ((folded: Folded) => void) | undefined
  /** After each batch read. */
  readonly onProgress?: ((offset: number) => void) | undefined
  /** Ends it between two batches. */
  readonly signal?: AbortSignal | undefined
  readonly rowCacheBytes?: number
}

/** What was folded for an answer: so long it took. JSON. */
export interface FoldWork {
  /** Journal offset at which folding began: 0, or that of a snapshot, which is taken as it was archived. */
  readonly from: number
  readonly entries: number
}

/**
 * Rows held in memory before they are written: bounds memory, writes a key that changes often once, and a short replay, of which
 * only the digest is asked for, not at all.
 */
const MAX_DIRTY_ROWS = 30_000
const SEGMENT_ENTRIES = 1000
const READ_BYTES = 1024 * 1024
const ROW_CACHE_BYTES = 16 * 1024 * 1024

/**
 * Folds a journal partition forward, as its task did, and stops wherever it is asked to. It writes nothing but its own
 * store: outputs, sends, effects and answers are dropped. What the journal lacks is in `gaps`, what it holds that is no
 * block in `unreadable`.
 */
export class JournalFold {
  readonly rows: RowStore
  readonly folder: Folder
  readonly codec: BlockCodec
  readonly gaps: Gap[]
  readonly unreadable: Error[] = []
  readonly digest: StoreDigest
  readonly #options: JournalFoldOptions
  #read: LogRecord[] = []
  /** Of the rows that the digest covers and the store does not hold yet. */
  #unwritten: (() => Iterable<WriteOperation>) | undefined
  #offset: number
  #entries = 0
  /** A term that begins with a pre-load was folded, of which nothing is noted yet. */
  #isLoaded = false

  private constructor(options: JournalFoldOptions) {
    const { processor, journal, snapshot, isAbsent = false } = options
    this.#options = options
    this.gaps = isAbsent ? [{ ...journal, from: 0, to: 0 }] : [...(snapshot?.gaps ?? [])]
    this.rows = new RowStore(options.store, processor.tables, options.rowCacheBytes ?? ROW_CACHE_BYTES)
    this.digest = snapshot?.digest ?? createStoreDigest()
    this.codec = blockCodec(processor.events)
    this.#offset = snapshot?.offset ?? 0
    this.folder = new Folder(
      {
        processor,
        partition: journal.partition,
        journal: journal.topic,
        rows: this.rows,
        codec: this.codec,
        onConsequence: (consequence) => {
          if (consequence.kind === 'owner' && consequence.owner.preloaded && consequence.isNewest) this.#isLoaded = true
        },
        onCount: () => undefined,
        onFolded: options.onFolded,
      },
      { ...(snapshot?.state ?? { time: 0, epoch: 0, foldVersion: processor.foldVersion, settings: null }) },
    )
  }

  static async open(options: JournalFoldOptions): Promise<JournalFold> {
    const { snapshot, store } = options
    const fold = new JournalFold(options)
    if (snapshot !== undefined) {
      await snapshot.fill(store)
      await fold.rows.loadResident()
    }
    return fold
  }

  get partition(): number {
    return this.#options.journal.partition
  }
  get processor(): Processor {
    return this.#options.processor
  }
  /** Journal offset at which it began: a snapshot's, or 0. */
  get begunAt(): number {
    return this.#options.snapshot?.offset ?? 0
  }
  /** Journal offset that the rows stand for. */
  get offset(): number {
    return this.#offset
  }
  /** Entries folded. */
  get entries(): number {
    return this.#entries
  }
  get work(): FoldWork {
    return { from: this.begunAt, entries: this.#entries }
  }

  /** Folds all records before `to`; rows and digest then stand for it. Never goes back. */
  async foldTo(to: number): Promise<void> {
    const { segmentEntries = SEGMENT_ENTRIES } = this.#options
    while (this.#offset < to) {
      this.#options.signal?.throwIfAborted()
      const records = await this.#next(to)
      const { rewrite } = this.#options
      const wanted = rewrite === undefined ? records : rewritten(records, rewrite)
      for (const { items } of segmentsOf(this.folder, wanted, segmentEntries)) {
        await foldSegment(this.rows, this.folder, items)
        if (this.#isLoaded) {
          this.#isLoaded = false
          for (const { entry, position } of items) {
            if (entry.kind === 'owner' && entry.preloaded) await this.noteLoaded(entry, position.offset)
          }
        }
        this.#entries += items.length
        items.length = 0
        if (this.rows.dirtyRows >= MAX_DIRTY_ROWS) {
          await this.#freeze()
          await this.#write()
        }
      }
      this.#options.onProgress?.(this.#offset)
    }
    await this.#freeze()
  }

  /** The store, with all rows as of the last `foldTo`. */
  async store(): Promise<KeyValueStore> {
    await this.#write()
    return this.#options.store
  }

  /**
   * What the state lacks as of a moment: `gaps`, what lies before all snapshots, what its position has and the journal has not, and
   * what this site has of another one's journal and has not loaded by then. `asked`: the moment that the state is to be of.
   */
  async gapsAt(until: Moment, asked = until): Promise<readonly Gap[]> {
    const { reader, journal, peerJournal, snapshot } = this.#options
    const { start } = await reader.offsets(journal)
    const begun = { offset: this.begunAt, time: snapshot?.state.time ?? 0 }
    const before = begun.offset === start ? missingBefore(journal, asked, begun) : []
    const upTo = until.kind === 'time' ? until.time : until.kind === 'end' ? undefined : this.folder.state.time
    const behind = missingBehind(journal, until, this.#offset)
    return [
      ...before,
      ...this.gaps,
      ...behind,
      ...(await unloadedRecords(reader, journal, this.gaps, { upTo, peerJournal })),
    ]
  }

  /** Leaves out what lies before `offset`: it is known to change nothing. What it lacks is a gap all the same. */
  skipTo(offset: number): void {
    if (offset <= this.#offset) return
    const { knownGaps = [] } = this.#options
    this.gaps.push(...knownGaps.filter((gap) => missingFrom(gap) >= this.#offset && missingFrom(gap) < offset))
    this.#offset = offset
    this.#read = this.#read.filter((record) => record.offset >= offset)
  }

  /** The next records before `to`; the offset is then behind them. */
  async #next(to: number): Promise<Iterable<DecodedRecord>> {
    const { reader, journal } = this.#options
    if (this.#read.length === 0) {
      const { start, end } = await reader.offsets(journal)
      this.#lacks(Math.min(start, to))
      if (this.#offset >= Math.min(end, to)) {
        this.#lacks(to)
        return []
      }
      const batch = await reader.read(journal, this.#offset, { maxBytes: READ_BYTES })
      this.#read = [...batch.records]
      if (this.#read.length === 0) this.#lacks(Math.min(batch.next, to))
    }
    const records: LogRecord[] = []
    for (const record of this.#read) {
      if (record.offset >= to) break
      this.#lacks(record.offset)
      this.#offset = record.offset + 1
      records.push(record)
    }
    this.#read.splice(0, records.length)
    if (records.length === 0 && this.#read.length > 0) this.#lacks(to)
    return readableRecords(this.codec.decode, journal, records, (error) => this.unreadable.push(error))
  }

  /** What another site's journal had to say at the beginning of a term, which is not in this one. */
  async noteLoaded(term: OwnerEntry, offset: number): Promise<void> {
    const { reader, journal, knownGaps = [], peerJournal } = this.#options
    const known = knownGaps.find(({ loadedAt }) => loadedAt === offset)
    this.gaps.push(known ?? (await loadedRecords(reader, this.codec, journal, term, offset, peerJournal)))
  }

  /** Notes that records before `offset` are not there. */
  #lacks(offset: number): void {
    if (offset <= this.#offset) return
    this.gaps.push({ ...this.#options.journal, from: this.#offset, to: offset })
    this.#offset = offset
  }

  async #freeze(): Promise<void> {
    await this.#write()
    const { changedKeys, operations } = freeze(this.rows.tables, this.digest)
    if (changedKeys.length > 0) this.#unwritten = operations
    else this.rows.finishCommit()
  }

  async #write(): Promise<void> {
    if (this.#unwritten === undefined) return
    await this.#options.store.write(this.#unwritten())
    this.#unwritten = undefined
    this.rows.finishCommit()
  }
}

function* rewritten(
  records: Iterable<DecodedRecord>,
  rewrite: (record: DecodedRecord) => Iterable<FoldableRecord>,
): Generator<FoldableRecord> {
  for (const record of records) yield* rewrite(record)
}
