import type { Clock } from '../../../../common/clock.js'
import { sleep } from '../../../../common/clock.js'
import { ensureError } from '../../../../common/errors.js'
import type { DeliveredBatch, GroupListener, ReadingStart, TopicPartition } from '../../log.js'
import { LogError } from '../../errors.js'
import type { FetchedRecords } from '../protocol/fetched-records.js'

/** Fetched of one partition, and not yet delivered. */
export interface FetchedBatch extends Omit<DeliveredBatch, 'bytes'> {
  readonly records: FetchedRecords
}

const firstBackoffMs = 100
const longestBackoffMs = 5_000

export interface DeliveryOptions {
  readonly listener: GroupListener
  readonly clock: Clock
  readonly maxRecords: number
  readonly maxBytes: number
  /** Called when `wanted` may have changed from undefined. */
  readonly onWanted: () => void
  /** What was fetched is damaged; the delivery has ended. */
  readonly onFatal: (error: Error) => void
}

/**
 * Brings the records of one assigned partition to a listener, batch by batch, until it is stopped. What was fetched ahead
 * waits here: the partition is fetched further when that is at most being handled.
 */
export class Delivery {
  readonly partition: TopicPartition
  readonly #options: DeliveryOptions
  readonly #stopping = new AbortController()
  #ahead: FetchedBatch | undefined
  /** Up to here no record came behind the last batch. */
  #passedTo: number | undefined
  #fetchAt = 0
  /** The topic that it reads; empty: none yet. */
  #topicId = ''
  /** Counts the times that reading was sent elsewhere. */
  #seeks = 0
  #isStarted = false
  #rests = 0
  #arrived: (() => void) | undefined
  #resumed: Promise<void> | undefined
  #resume: (() => void) | undefined
  /** Resolves when no call of the listener for this partition is under way or to come; set by the member. */
  done: Promise<void> = Promise.resolve()

  constructor(partition: TopicPartition, options: DeliveryOptions) {
    this.partition = partition
    this.#options = options
  }

  get stopped(): AbortSignal {
    return this.#stopping.signal
  }

  #isStopped(): boolean {
    return this.stopped.aborted
  }

  /** Whether it will want more as soon as its handler is done. */
  get isFull(): boolean {
    return this.#ahead !== undefined && !this.#isStopped() && this.#resumed === undefined
  }

  /** Where to fetch next; undefined: enough is waiting. */
  get wanted(): number | undefined {
    const isResting = !this.#isStarted || this.stopped.aborted || this.#resumed !== undefined || this.#rests > 0
    return isResting || this.#ahead !== undefined ? undefined : this.#fetchAt
  }

  get topicId(): string {
    return this.#topicId
  }

  /** Whether this is the topic that it reads: the one that its start names, else the first one that it is told. */
  reads(topicId: string): boolean {
    if (this.#topicId === '') this.#topicId = topicId
    return this.#topicId === topicId
  }

  /**
   * What was fetched at `offset`, unless that is not `wanted` any more. A batch without records, as compaction or a
   * transaction leaves it, is passed over.
   */
  arrive(offset: number, batch: FetchedBatch): void {
    if (offset !== this.#fetchAt) return
    this.#fetchAt = batch.next
    if (batch.records.length > 0) this.#ahead = batch
    else if (batch.next > offset) this.#passedTo = batch.next
    else return
    this.#arrived?.()
  }

  /** Reading goes on at `to`: what lay between is gone. */
  skip(to: number): void {
    const { topic, partition } = this.partition
    this.#options.listener.onGap({ topic, partition, from: this.#fetchAt, to })
    this.#fetchAt = this.#passedTo = to
    this.#arrived?.()
  }

  /** Nothing is wanted for a while. */
  rest(restMs: number): void {
    this.#rests++
    void sleep(this.#options.clock, restMs, this.stopped).then(() => {
      this.#rests--
      this.#options.onWanted()
    })
  }

  /** Reading goes on there, once it is resumed. */
  seek({ offset, incarnation = '' }: ReadingStart): void {
    this.#seeks++
    this.#topicId = incarnation
    this.#ahead = this.#passedTo = undefined
    this.#fetchAt = offset
  }

  stop(): void {
    this.#stopping.abort()
    this.resume()
    this.#arrived?.()
  }

  pause(): void {
    this.#resumed ??= new Promise((resolve) => (this.#resume = resolve))
  }

  resume(): void {
    this.#resume?.()
    this.#resumed = this.#resume = undefined
    this.#options.onWanted()
  }

  /** Never rejects: what goes wrong is told to the listener's `onError` and tried again after a pause. */
  async run(from: ReadingStart): Promise<void> {
    const { maxRecords, maxBytes } = this.#options
    // It may have been sent elsewhere meanwhile.
    if (this.#seeks === 0) this.seek(from)
    this.#isStarted = true
    this.#options.onWanted()
    while (!this.#isStopped()) {
      const fetched = await this.#take()
      const seeks = this.#seeks
      for (let left = fetched?.records; fetched !== undefined && left !== undefined && left.length > 0;) {
        const { records, bytes } = left.take(maxRecords, maxBytes)
        left = left.slice(records.length)
        await this.#deliver({ ...fetched, records, bytes, next: left.at(0)?.offset ?? fetched.next })
        if (this.#isStopped()) return
        if (this.#seeks !== seeks) break
        // To the back of the queue: other partitions, timers and sockets come first.
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  }

  async #take(): Promise<FetchedBatch | undefined> {
    while (this.#ahead === undefined && !this.#isStopped()) {
      this.#tellPassed()
      await new Promise<void>((resolve) => (this.#arrived = resolve))
    }
    const batch = this.#ahead
    this.#ahead = this.#passedTo = undefined
    this.#options.onWanted()
    return batch
  }

  #tellPassed(): void {
    if (this.#passedTo === undefined) return
    this.#options.listener.onPassedOver?.({ ...this.partition, next: this.#passedTo })
    this.#passedTo = undefined
  }

  async #deliver(batch: DeliveredBatch): Promise<void> {
    const { listener, clock, onFatal } = this.#options
    const seeks = this.#seeks
    for (let failures = 0; ;) {
      await this.#resumed
      if (this.#isStopped() || this.#seeks !== seeks) return
      try {
        await listener.onBatch(batch)
        return
      } catch (error) {
        if (error instanceof LogError && error.code === 'LOG_DAMAGED') {
          this.stop()
          onFatal(error)
          return
        }
        listener.onError(ensureError(error))
        await sleep(clock, Math.min(longestBackoffMs, firstBackoffMs * 2 ** failures++), this.stopped)
      }
    }
  }
}
