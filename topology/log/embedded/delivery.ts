import type { Clock } from '../../../common/clock.js'
import { sleep } from '../../../common/clock.js'
import { ensureError } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import type { DeliveredBatch, GroupListener } from '../log.js'
import type { Partition } from './partition.js'

const firstBackoffMs = 100
const longestBackoffMs = 5_000

/** The pause before attempt `failures + 1`. */
export function backoffMs(failures: number): number {
  return Math.min(longestBackoffMs, firstBackoffMs * 2 ** (failures - 1))
}

export interface DeliveryOptions {
  readonly listener: GroupListener
  readonly clock: Clock
  readonly maxRecords: number
  readonly maxBytes: number
}

/** Brings the records of one assigned partition to a listener, batch by batch, until it is stopped. */
export class Delivery {
  readonly partition: Partition
  readonly #options: DeliveryOptions
  readonly #stopping = new AbortController()
  #resumed: Promise<void> | undefined
  #seekTo: number | undefined
  #resume: (() => void) | undefined
  /** Resolves when no call of the listener for this partition is under way or to come; set by the member. */
  done: Promise<void> = Promise.resolve()

  constructor(partition: Partition, options: DeliveryOptions) {
    this.partition = partition
    this.#options = options
  }

  get stopped(): AbortSignal {
    return this.#stopping.signal
  }

  stop(): void {
    this.#stopping.abort()
    this.partition.wake()
    this.resume()
  }

  pause(): void {
    this.#resumed ??= new Promise((resolve) => (this.#resume = resolve))
  }

  resume(): void {
    this.#resume?.()
    this.#resumed = this.#resume = undefined
  }

  /** Reading goes on at `offset`, once it is resumed. */
  seek(offset: number): void {
    this.#seekTo = offset
    this.partition.wake()
  }

  /** Never rejects: what goes wrong is told to the listener's `onError` and tried again after a pause. */
  async run(from: number): Promise<void> {
    let position = from
    let failures = 0
    let batch: DeliveredBatch | undefined
    const isOver = (): boolean => this.#isStopped() || this.#isSought()
    while (!this.#isStopped()) {
      try {
        await this.#resumed
        if (this.#seekTo !== undefined) {
          position = this.#seekTo
          this.#seekTo = batch = undefined
        }
        if (batch === undefined) {
          position = this.#overGap(position)
          if (position === this.partition.end) {
            await this.partition.reachesBeyond(position, isOver)
          }
          const readAt = this.#options.clock.monotonic()
          batch = { ...(await this.partition.readLazily(position, this.#options)), readAt }
        }
        // `pause` or `stop` may have come while the batch was read.
        await this.#resumed
        if (this.#isStopped()) return
        if (this.#isSought()) continue
        const { topic, partition, records, next } = batch
        if (records.length > 0) await this.#options.listener.onBatch(batch)
        else if (next > position) this.#options.listener.onPassedOver?.({ topic, partition, next })
        position = batch.next
        batch = undefined
        failures = 0
        // To the back of the queue: other partitions, timers and sockets come first.
        await new Promise((resolve) => setImmediate(resolve))
      } catch (error) {
        if (batch === undefined && isBelowStart(error, this.partition)) continue
        this.#options.listener.onError(ensureError(error))
        await sleep(this.#options.clock, backoffMs(++failures), this.stopped)
      }
    }
  }

  #isSought(): boolean {
    return this.#seekTo !== undefined
  }

  #isStopped(): boolean {
    return this.stopped.aborted
  }

  #overGap(position: number): number {
    const { topic, partition, start } = this.partition
    if (position >= start) return position
    this.#options.listener.onGap({ topic, partition, from: position, to: start })
    this.#options.listener.onPassedOver?.({ topic, partition, next: start })
    return start
  }
}

/** The log start overtook the read: the next turn reports the gap. */
function isBelowStart(error: unknown, partition: Partition): boolean {
  return (
    error instanceof LogError && error.code === 'OFFSET_OUT_OF_RANGE' && Number(error.details.offset) < partition.start
  )
}
