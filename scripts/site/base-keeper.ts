import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import { names } from '../../topology/names.js'
import { BASE_LOAD } from '../../topology/preload/partition-load.js'
import { Preload } from '../../topology/preload/preload.js'
import type { PreloadOptions } from '../../topology/preload/preload.js'

export interface BaseKeeperOptions {
  readonly clock: Clock
  readonly preload: (load: string) => PreloadOptions
  /** The base stays this far behind, so that a switch folds at least this window again. */
  readonly windowMs: number
  /** The site waits: its stores are not in use. */
  readonly mayRun: () => boolean
  readonly onError: (error: Error) => void
}

const INTERVAL_MS = 60_000

export const baseStoreName = (domain: string, partition: number): string =>
  `${BASE_LOAD}-${names.taskStore(domain, partition)}`

/**
 * Stores of a waiting site that follow the other site's history a window behind: what a switch begins with, so that it folds the
 * window and not all that the journals keep.
 */
export class BaseKeeper {
  readonly #options: BaseKeeperOptions
  #work = new AbortController()
  #working: Promise<void> = Promise.resolve()
  #holds = 0
  #time = 0

  constructor(options: BaseKeeperOptions) {
    this.#options = options
  }

  /** What the journals held before this time is in the base, ms since 1970; 0: there is none yet. */
  get time(): number {
    return this.#time
  }

  /** Brings the base up until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, mayRun, onError } = this.#options
    while (!signal.aborted) {
      if (mayRun() && this.#holds === 0) {
        this.#work = new AbortController()
        this.#working = this.#advance(AbortSignal.any([signal, this.#work.signal])).catch((thrown: unknown) => {
          if (!this.#work.signal.aborted) onError(ensureError(thrown))
        })
        await this.#working
      }
      await sleep(clock, INTERVAL_MS, signal)
    }
  }

  /** Lets go of the base's stores, until what this resolves with is called: once by each who has held it. */
  async hold(): Promise<() => void> {
    this.#holds++
    this.#work.abort()
    await this.#working
    let isHeld = true
    return () => {
      if (isHeld) this.#holds--
      isHeld = false
    }
  }

  async #advance(signal: AbortSignal): Promise<void> {
    const { clock, preload: optionsOf, windowMs } = this.#options
    const preload = await Preload.open({ ...optionsOf(BASE_LOAD), storeName: baseStoreName, isBase: true })
    try {
      await preload.load(signal, { beforeMs: clock.now() - windowMs })
      this.#time = Number.isFinite(preload.time) ? preload.time : 0
    } finally {
      await preload.close()
    }
  }
}
