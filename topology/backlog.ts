import { sleep } from '../common/clock.js'
import type { Clock } from '../common/clock.js'
import type { DeliveredBatch } from './log/log.js'

/** About what a few hundred events take. */
const LARGE_BYTES = 32 * 1024
/** How long what can wait gives way at most, when it does not say, and how long between two looks. */
const GIVE_WAY_MS = 500
const LOOK_MS = 10

/**
 * How much of what this instance has read is still being taken in or folded. While it is large, what can wait a little
 * (commits, notices) gives way, for answers need neither.
 */
export class Backlog {
  #bytes = 0

  get isLarge(): boolean {
    return this.#bytes > LARGE_BYTES
  }

  /** Resolves when it is not large, at the latest in `atMostMs` (half a second), or when `signal` ends the wait. */
  async giveWay(clock: Clock, signal: AbortSignal, atMostMs = GIVE_WAY_MS): Promise<void> {
    const until = clock.monotonic() + atMostMs
    while (this.isLarge && clock.monotonic() < until && !signal.aborted) await sleep(clock, LOOK_MS, signal)
  }

  /** Counts the batch until the work on it has ended. */
  async during(batch: DeliveredBatch, work: () => Promise<void>): Promise<void> {
    let { bytes } = batch
    if (bytes === undefined) {
      bytes = 0
      for (const { value } of batch.records) bytes += value?.length ?? 0
    }
    this.#bytes += bytes
    try {
      await work()
    } finally {
      this.#bytes -= bytes
    }
  }
}
