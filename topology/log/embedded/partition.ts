import type { KeyValueStore, WriteOperation } from '../../../state-stores/key-value-store.js'
import { LogError } from '../errors.js'
import type { Appended, DeliveredBatch, ReadOptions, RecordBatch, TopicPartition } from '../log.js'
import type { BatchPart, EncodedBatch, ReadBudget, Seal, StoredBatch } from './batch-codec.js'
import { partOf, sealBatch, sealOf } from './batch-codec.js'
import { BatchRows } from './batch-rows.js'
import { offsetLimit, partitionKey } from './rows.js'
import { logErrorOf } from './store-failure.js'
import { recordsOf, StoredRecords } from './stored-records.js'
import type { TailCache } from './tail-cache.js'
import { Tail } from './tail-cache.js'
import type { PreparedWrite } from './write-queue.js'

const defaultReadBytes = 1024 * 1024

/** Where a partition ends: the next offset, and the running values of its last batch. */
export interface PartitionEnd extends Pick<Seal, 'appendedAt' | 'highestTimestamp' | 'endBytes'> {
  readonly next: number
}

/** Kept beside the batches: where the log starts, and its end for the case that no batch is left. */
export interface PartitionRow {
  readonly start: number
  readonly end: PartitionEnd
  /** Compaction has been through all before this offset. */
  readonly cleanedTo: number
}

const emptyRow: PartitionRow = {
  start: 0,
  end: { next: 0, appendedAt: 0, highestTimestamp: -1, endBytes: 0 },
  cleanedTo: 0,
}

export interface PartitionContext {
  readonly store: KeyValueStore
  readonly cache: TailCache
  /** The log's time, ms. */
  readonly now: () => number
}

/** One partition: where it starts and ends, its newest batches, and the way to all others in the store. */
export class Partition implements TopicPartition {
  readonly topic: string
  readonly partition: number
  readonly batches: BatchRows
  readonly #topicNumber: number
  readonly #context: PartitionContext
  readonly #tail = new Tail()
  #row = emptyRow
  /** What readers see. */
  #end = emptyRow.end
  /** The end with the write under way. */
  #preparedEnd = emptyRow.end
  /** Base offsets of batches whose write failed: the store may have kept them, so the next write deletes them first. */
  #doubtful = new Set<number>()
  #waiting: (() => void)[] = []

  private constructor(topic: string, topicNumber: number, partition: number, context: PartitionContext) {
    this.topic = topic
    this.#topicNumber = topicNumber
    this.partition = partition
    this.#context = context
    this.batches = new BatchRows(context.store, topicNumber, partition)
  }

  /** Finds start and end in the store. */
  static async recover(
    topic: string,
    topicNumber: number,
    partition: number,
    context: PartitionContext,
  ): Promise<Partition> {
    const self = new Partition(topic, topicNumber, partition, context)
    const row = await context.store.get(partitionKey(topicNumber, partition)).catch(throwLogError)
    if (row !== undefined) self.#row = JSON.parse(row.toString()) as PartitionRow
    const last = await self.batches.before(offsetLimit)
    self.#end = last === undefined ? self.#row.end : { next: last.next, ...sealOf(last.value) }
    self.#preparedEnd = self.#end
    // A batch behind it that the walk has missed, in a damaged block, is met by a look-up.
    const behind = await context.store.get(self.batches.keyOf(self.#end.next)).catch(throwLogError)
    if (behind !== undefined) throw self.#missing(self.#end.next, self.#end.next + 1)
    return self
  }

  get start(): number {
    return this.#row.start
  }

  get end(): number {
    return this.#end.next
  }

  get endBytes(): number {
    return this.#end.endBytes
  }

  get cleanedTo(): number {
    return this.#row.cleanedTo
  }

  /** Gives the batches their offsets and stamps. `stampsAll`: the log's time is the timestamp of each record. */
  prepareAppend(
    batches: readonly EncodedBatch[],
    stampsAll: boolean,
    operations: WriteOperation[],
  ): PreparedWrite<Appended> {
    const baseOffset = this.#preparedEnd.next
    const deleted = this.#doubtful
    this.#doubtful = new Set()
    for (const base of deleted) operations.push({ key: this.batches.keyOf(base), value: null })
    const stored: StoredBatch[] = []
    let end = this.#preparedEnd
    let timestamp = -1
    const appendedAt = Math.max(end.appendedAt, this.#context.now())
    for (const batch of batches) {
      const base = end.next
      const maxTimestamp = stampsAll ? appendedAt : batch.maxTimestamp
      end = {
        next: base + batch.span,
        appendedAt,
        highestTimestamp: Math.max(end.highestTimestamp, maxTimestamp),
        endBytes: end.endBytes + batch.value.length,
      }
      const key = this.batches.keyOf(base)
      sealBatch(batch.value, { ...end, maxTimestamp }, key)
      operations.push({ key, value: batch.value })
      stored.push({ base, next: end.next, value: batch.value })
      timestamp = Math.max(timestamp, maxTimestamp)
    }
    this.#preparedEnd = end
    return {
      applied: () => {
        for (const batch of stored) this.#context.cache.add(this.#tail, batch)
        this.#end = end
        this.wake()
        return { baseOffset, timestamp }
      },
      undo: () => {
        for (const base of deleted) this.#doubtful.add(base)
        for (const { base } of stored) this.#doubtful.add(base)
        this.#preparedEnd = this.#end
      },
    }
  }

  /** Resolves when the partition reaches beyond `offset`, or at a `wake` when it is over. */
  reachesBeyond(offset: number, isOver: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.end > offset || isOver()) resolve()
        else this.#waiting.push(check)
      }
      check()
    })
  }

  /** Who waits looks again. */
  wake(): void {
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const check of waiting) check()
  }

  async read(offset: number, options: ReadOptions = {}): Promise<RecordBatch> {
    const { topic, partition, records, next, end } = await this.readLazily(offset, options)
    return { topic, partition, records: [...records], next, end }
  }

  /** As `read`, of records that are made when they are gone over. */
  async readLazily(offset: number, options: ReadOptions = {}): Promise<DeliveredBatch> {
    const end = this.end
    this.#checkRange(offset, end)
    const maxBytes = options.maxBytes ?? defaultReadBytes
    const budget: ReadBudget = { records: options.maxRecords ?? Infinity, bytes: maxBytes }
    const parts: BatchPart[] = []
    let next = offset
    /** Answers whether to go on. */
    const take = (batch: StoredBatch): boolean => {
      const part = partOf(batch, next, budget, parts.length === 0)
      next = part.next
      if (part.count > 0) parts.push(part)
      return next === batch.next && next < end && budget.records > 0 && budget.bytes > 0
    }
    if (this.#tail.covers(offset)) {
      for (const batch of this.#tail.from(offset)) if (!take(batch)) break
    } else if (offset < end) {
      let isEnough = false
      let missingTo: number | undefined
      for await (const batch of this.batches.range(offset, end)) {
        if (batch.base > next) missingTo = batch.base
        isEnough = missingTo !== undefined || !take(batch)
        if (isEnough) break
      }
      // The log start may have moved past the offset while the store was read.
      this.#checkRange(offset, end)
      if (!isEnough && next < end) missingTo = end
      if (missingTo !== undefined) throw this.#missing(next, missingTo)
    }
    const { topic, partition } = this
    return { topic, partition, records: new StoredRecords(parts), bytes: maxBytes - budget.bytes, next, end }
  }

  #missing(from: number, to: number): LogError {
    const { topic, partition } = this
    const message = `records ${from} to ${to - 1} of ${topic} partition ${partition} are missing`
    return new LogError('LOG_DAMAGED', message, { details: { topic, partition, from, to } })
  }

  #checkRange(offset: number, end: number): void {
    if (offset >= this.start && offset <= end) return
    const { topic, partition, start } = this
    throw new LogError(
      'OFFSET_OUT_OF_RANGE',
      `offset ${offset} of ${topic} partition ${partition} is outside of ${start} to ${end}`,
      { details: { topic, partition, offset, start, end } },
    )
  }

  /** The first offset whose timestamp is at or after `timestampMs`; the end when there is none. */
  async offsetForTime(timestampMs: number): Promise<number> {
    const end = this.end
    if (timestampMs > this.#end.highestTimestamp) return end
    const first = await this.batches.first(this.start, end, (seal) => seal.highestTimestamp >= timestampMs)
    if (first === undefined) return end
    // The running value may come from a batch that retention or compaction took, so it only says where to begin.
    for await (const batch of this.batches.range(Math.max(first.base, this.start), end)) {
      if (sealOf(batch.value).maxTimestamp < timestampMs) continue
      const hit = recordsOf(batch, this.start).find((record) => record.timestamp >= timestampMs)
      if (hit !== undefined) return hit.offset
    }
    return end
  }

  /** Moves the log start to `offset` (never back, never beyond the end); whole batches below it are deleted. */
  async deleteBefore(offset: number): Promise<void> {
    const end = this.#end
    const start = Math.min(Math.max(offset, this.start), end.next)
    if (start > this.start) {
      await this.#writeRow({ ...this.#row, start, end }, [])
    }
    const holding = await this.batches.before(start + 1)
    const to = holding !== undefined && holding.next > start ? holding.base : start
    await this.batches.clearBelow(to)
  }

  /** Replaces the batches at these bases by what compaction left, as one write; all before `cleanedTo` is then done. */
  async replace(removed: readonly number[], kept: readonly StoredBatch[], cleanedTo: number): Promise<void> {
    const operations: WriteOperation[] = []
    for (const base of removed) operations.push({ key: this.batches.keyOf(base), value: null })
    for (const batch of kept) operations.push({ key: this.batches.keyOf(batch.base), value: batch.value })
    await this.#writeRow({ ...this.#row, cleanedTo }, operations)
    if (removed.length > 0) this.#context.cache.clear(this.#tail)
  }

  async #writeRow(row: PartitionRow, operations: readonly WriteOperation[]): Promise<void> {
    const key = partitionKey(this.#topicNumber, this.partition)
    const put = { key, value: Buffer.from(JSON.stringify(row)) }
    await this.#context.store.write([...operations, put], { sync: true }).catch(throwLogError)
    this.#row = row
  }
}

function throwLogError(error: unknown): never {
  throw logErrorOf(error)
}
