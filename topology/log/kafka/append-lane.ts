import type { Clock } from '../../../common/clock.js'
import { sleep } from '../../../common/clock.js'
import { cut } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import type { Appended, NewRecord, TopicPartition } from '../log.js'
import type { ProduceQueue } from './produce-queue.js'
import { typeOf } from './protocol/broker-error.js'
import type { Produced } from './protocol/requests.js'
import { encodeBatch, highestTimestamp, recordBytes } from './protocol/record-batch.js'
import { isStale, isUnsent, pauseMs, unavailable } from './retry.js'
import type { TopicDirectory } from './topic-directory.js'

/** Appends that wait go together in one batch up to these bounds; readers of kafkajs fail above some 125,000 records. */
const mergedBatchBytes = 1024 * 1024
const maxBatchRecords = 10_000
const batchOverheadBytes = 61

const tooLargeTypes = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE'])

export interface LaneContext {
  readonly clock: Clock
  readonly directory: TopicDirectory
  /** How long an append is tried while its partition has no leader that can be reached. */
  readonly timeoutMs: number
  /** Bound of one record: key, value and headers together. */
  readonly maxRecordBytes: number
  queueOf(nodeId: number): ProduceQueue
}

interface Waiting {
  readonly records: readonly NewRecord[]
  readonly bytes: number
  /** How many of the records stand in the log already. */
  done: number
  appended: Appended | undefined
  readonly resolve: (appended: Appended) => void
  readonly reject: (error: unknown) => void
}

/**
 * The appends to one partition, in the order of the calls: one batch under way, the next one only when that is
 * acknowledged, since a batch sent again could be overtaken. When it is not known whether a batch was written, or it
 * could not be in time, all that wait are refused with it: nothing is acknowledged behind a refused append.
 */
export class AppendLane {
  readonly #partition: TopicPartition
  readonly #context: LaneContext
  readonly #waiting: Waiting[] = []
  #running: Promise<void> | undefined

  constructor(partition: TopicPartition, context: LaneContext) {
    this.#partition = partition
    this.#context = context
  }

  append(records: readonly NewRecord[]): Promise<Appended> {
    return new Promise((resolve, reject) => {
      const bytes = records.reduce((sum, record) => sum + recordBytes(record), batchOverheadBytes)
      this.#waiting.push({ records, bytes, done: 0, appended: undefined, resolve, reject })
      this.#running ??= this.#run().finally(() => (this.#running = undefined))
    })
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting[0] !== undefined) {
      try {
        const limit = await this.#limit()
        if (this.#refuseTooLarge(limit)) continue
        const batch = nextBatch(this.#waiting, limit)
        const nowMs = this.#context.clock.now()
        this.#settle(batch, await this.#send(encodeBatch(batch.records, nowMs)), nowMs)
      } catch (error) {
        for (const { reject } of this.#waiting.splice(0)) reject(error)
      }
    }
  }

  /** The bound of a batch. Errors: TOPIC_UNKNOWN, PARTITION_UNKNOWN. */
  async #limit(): Promise<number> {
    const { directory } = this.#context
    await directory.checkPartition(this.#partition)
    return directory.maxMessageBytes(this.#partition.topic)
  }

  /** Refuses the foremost append when one of its records is too large: nothing of it is written. */
  #refuseTooLarge(limit: number): boolean {
    const [first] = this.#waiting
    const bound = Math.min(limit - batchOverheadBytes, this.#context.maxRecordBytes)
    const large = first?.records.map(recordBytes).find((bytes) => bytes > bound)
    if (first === undefined || large === undefined) return false
    this.#waiting.shift()
    first.reject(recordTooLarge(this.#partition, large, bound))
    return true
  }

  async #send(batch: Buffer): Promise<Produced> {
    const { clock, directory, timeoutMs } = this.#context
    const deadline = clock.monotonic() + timeoutMs
    for (let failures = 1; ; failures++) {
      try {
        const queue = this.#context.queueOf(await directory.leader(this.#partition))
        return await queue.send({ ...this.#partition, batch })
      } catch (error) {
        const wasNotWritten = isStale(error) || isUnsent(error)
        if (!wasNotWritten || clock.monotonic() >= deadline) throw refusalOf(error, batch)
        directory.forget(this.#partition.topic)
        await sleep(clock, pauseMs(failures))
      }
    }
  }

  #settle({ counts }: Batch, produced: Produced, nowMs: number): void {
    let offset = produced.baseOffset
    for (const count of counts) {
      const first = this.#waiting[0] as Waiting
      const part = first.records.slice(first.done, first.done + count)
      const stamp = produced.logAppendTime >= 0 ? produced.logAppendTime : highestTimestamp(part, nowMs)
      const { baseOffset = offset, timestamp = stamp } = first.appended ?? {}
      first.appended = { baseOffset, timestamp: Math.max(stamp, timestamp) }
      first.done += count
      offset += count
      if (first.done < first.records.length) return
      this.#waiting.shift()
      first.resolve(first.appended)
    }
  }
}

interface Batch {
  readonly records: readonly NewRecord[]
  /** How many of them belong to each of the foremost appends. */
  readonly counts: readonly number[]
}

/** As many of the foremost records as one batch takes: an append that fits stays whole, a long one fills several. */
function nextBatch(waiting: readonly Waiting[], limit: number): Batch {
  const records: NewRecord[] = []
  const counts: number[] = []
  let bytes = batchOverheadBytes
  for (const { records: of, done, bytes: all } of waiting) {
    const isFirst = counts.length === 0
    const fits = bytes + all <= mergedBatchBytes && records.length + of.length <= maxBatchRecords
    if (!isFirst && !fits) break
    let count = 0
    for (const record of of.slice(done)) {
      bytes += recordBytes(record)
      if (records.length > 0 && (bytes > limit || records.length >= maxBatchRecords)) break
      records.push(record)
      count++
    }
    counts.push(count)
    if (done + count < of.length) break
  }
  return { records, counts }
}

export function recordTooLarge({ topic, partition }: TopicPartition, bytes: number, bound: number): LogError {
  const message = `a record of some ${bytes} bytes is above the ${bound} bytes that topic ${cut(topic)} takes`
  return new LogError('RECORD_TOO_LARGE', message, { details: { topic, partition, bytes, bound } })
}

function refusalOf(error: unknown, batch: Buffer): LogError {
  if (!tooLargeTypes.has(typeOf(error))) return unavailable(error)
  return new LogError('RECORD_TOO_LARGE', `the broker takes no batch of ${batch.length} bytes`, { cause: error })
}
