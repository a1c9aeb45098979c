import { readableRecords } from '../journal/readable-records.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import type { BlockCodec } from '../journal/block-codec.js'
import type { JournalSource } from './journal-source.js'

/** Consecutive records of one source. `next`: where to read on in that source behind them. */
export interface HistoryBatch {
  readonly source: number
  readonly records: readonly DecodedRecord[]
  readonly next: number
}

export interface HistoryOptions {
  readonly codec: BlockCodec
  readonly sources: readonly JournalSource[]
  /** Where to begin in each. */
  readonly positions: readonly number[]
  readonly partition: number
  readonly onUnreadable: (error: Error) => void
}

/** Where a limit has cut a source off; or wherever it ends, for it is still written to. */
export type HoldsBack = 'never' | 'cutOff' | 'always'

interface Decoded extends DecodedRecord {
  readonly next: number
  /** Number of the owner's term that the record is of. */
  readonly epoch: number
}

/**
 * The journals of two sites as one, partition by partition: by the number of the owner's term, within one by stamp. A site that
 * takes over begins a term above all it has loaded, so this is the order in which it has folded them itself; clocks that differ
 * between the sites change nothing, unless both were active at once.
 */
export class History {
  readonly #cursors: readonly Cursor[]

  constructor(options: HistoryOptions, epochs: readonly number[]) {
    this.#cursors = options.sources.map((_, index) => new Cursor(options, index, epochs[index] ?? 0))
  }

  /** Terms reached in each source, to go on from later. */
  get epochs(): readonly number[] {
    return this.#cursors.map((cursor) => cursor.epochFolded)
  }

  /**
   * Reads each source up to a position, or its end where that comes first. Of a source that `holdsBack` there may be more behind it
   * that belongs before what another source has: that waits.
   */
  limit(ends: readonly number[], holdsBack: (source: number) => HoldsBack): void {
    for (const [index, cursor] of this.#cursors.entries()) cursor.limit(ends[index] ?? Infinity, holdsBack(index))
  }

  /** The next records; undefined: all sources are at their ends, for now. */
  async next(): Promise<HistoryBatch | undefined> {
    await Promise.all(this.#cursors.map((cursor) => cursor.fill()))
    const maxEpoch = Math.min(...this.#cursors.map((cursor) => cursor.heldBackEpoch))
    let first: Cursor | undefined
    for (const cursor of this.#cursors) {
      if ((cursor.head?.epoch ?? 0) > maxEpoch) continue
      if (cursor.head !== undefined && (first?.head === undefined || isBefore(cursor.head, first.head))) first = cursor
    }
    if (first === undefined) return undefined
    const others = this.#cursors.flatMap((cursor) =>
      cursor === first || cursor.head === undefined ? [] : [cursor.head],
    )
    return first.take((record) => record.epoch <= maxEpoch && others.every((head) => !isBefore(head, record)))
  }
}

/** Equal ones stand in the order of the sources. */
function isBefore(a: Decoded, b: Decoded): boolean {
  return a.epoch === b.epoch ? a.timestamp < b.timestamp : a.epoch < b.epoch
}

/** A place in one source, with what was read ahead. */
class Cursor {
  readonly #options: HistoryOptions
  readonly #source: JournalSource
  readonly #index: number
  #end = Infinity
  #holdsBack: HoldsBack = 'never'
  #isCutOff = false
  #position: number
  #epochRead: number
  #records: readonly Decoded[] = []
  #taken = 0
  epochFolded: number

  constructor(options: HistoryOptions, index: number, epoch: number) {
    this.#options = options
    this.#source = options.sources[index] as JournalSource
    this.#index = index
    this.#position = options.positions[index] ?? 0
    this.#epochRead = epoch
    this.epochFolded = epoch
  }

  get head(): Decoded | undefined {
    return this.#records[this.#taken]
  }

  /** Of what comes behind the limit: no record of a later term may go before it. */
  get heldBackEpoch(): number {
    const holdsBack = this.#holdsBack === 'always' || (this.#holdsBack === 'cutOff' && this.#isCutOff)
    return holdsBack && this.head === undefined ? this.#epochRead : Infinity
  }

  limit(end: number, holdsBack: HoldsBack): void {
    this.#end = end
    this.#holdsBack = holdsBack
  }

  /** Reads on where all that was read is taken. */
  async fill(): Promise<void> {
    const offsets = await this.#source.offsets()
    const end = Math.min(this.#end, offsets.end)
    this.#isCutOff = end < offsets.end
    while (this.#taken >= this.#records.length && this.#position < end) {
      const { records, next } = await this.#source.read(this.#position)
      const wanted = records.filter((record) => record.next <= end)
      const nexts = new Map(wanted.map((record) => [record.offset, record.next]))
      const { codec, partition, onUnreadable } = this.#options
      const decoded: Decoded[] = []
      for (const record of readableRecords(
        codec.decode,
        { topic: this.#source.journal, partition },
        wanted,
        onUnreadable,
      )) {
        for (const entry of record.entries) {
          if (entry.kind === 'owner') this.#epochRead = Math.max(this.#epochRead, entry.epoch)
        }
        decoded.push({ ...record, next: nexts.get(record.offset) ?? next, epoch: this.#epochRead })
      }
      this.#records = decoded
      this.#taken = 0
      this.#position = Math.min(next, end)
    }
  }

  /** Those at hand, up to the first that another source's go before. */
  take(mayTake: (record: Decoded) => boolean): HistoryBatch {
    const from = this.#taken
    do this.#taken++
    while (this.head !== undefined && mayTake(this.head))
    const records = this.#records.slice(from, this.#taken)
    const last = records.at(-1)
    this.epochFolded = last?.epoch ?? this.epochFolded
    const isAll = this.head === undefined
    return { source: this.#index, records, next: isAll ? this.#position : (last?.next ?? this.#position) }
  }
}
