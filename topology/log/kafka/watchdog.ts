import type { Clock } from '../../../common/clock.js'
import { sleep } from '../../../common/clock.js'
import { LogError } from '../errors.js'

/** A process that was paused counts the pause as one of these, and so has time left to hear what came meanwhile. */
const ticks = 10

export interface WatchdogOptions {
  readonly clock: Clock
  /** Longer than what is watched may take to fail by itself. */
  readonly boundMs: number
  /** Told CLIENT_STALLED, once for each piece of work. */
  readonly onStall: (error: Error) => void
}

/**
 * Watches over work that ends soon or fails soon, such as a fetch or a heartbeat. When it does neither, the client is stuck,
 * however healthy the process looks.
 */
export class Watchdog {
  readonly #options: WatchdogOptions

  constructor(options: WatchdogOptions) {
    this.#options = options
  }

  /** As `work` itself. */
  async guard<T>(name: string, work: Promise<T>): Promise<T> {
    const done = new AbortController()
    void this.#watch(name, done.signal)
    try {
      return await work
    } finally {
      done.abort()
    }
  }

  async #watch(name: string, done: AbortSignal): Promise<void> {
    const { clock, boundMs, onStall } = this.#options
    for (let tick = 0; tick < ticks; tick++) {
      await sleep(clock, boundMs / ticks, done)
      if (done.aborted) return
    }
    onStall(new LogError('CLIENT_STALLED', `${name} has neither ended nor failed for ${boundMs} ms`))
  }
}
