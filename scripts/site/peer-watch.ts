import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'

export interface PeerWatchOptions {
  readonly clock: Clock
  readonly intervalMs: number
  /** Failed checks in a row after which the other site counts as failed. */
  readonly threshold: number
  readonly isHealthy: () => Promise<boolean>
  /** 0 to 1. */
  readonly random: () => number
}

/** Part of the interval by which a check comes earlier or later: what alternates at that period is not always met in one phase. */
const JITTER = 0.1

/** The other site's health address as this site sees it: only checks in a row count. (two sites, decisions 17 and 40) */
export class PeerWatch {
  readonly #options: PeerWatchOptions
  #failures = 0
  #checks = 0
  #wasHealthy = false

  constructor(options: PeerWatchOptions) {
    this.#options = options
  }

  /** Enough checks in a row have failed. */
  get hasFailed(): boolean {
    return this.#failures >= this.#options.threshold
  }
  get isHealthy(): boolean {
    return this.#checks > 0 && this.#failures === 0
  }

  /** A check was good once, in this life. */
  get wasHealthy(): boolean {
    return this.#wasHealthy
  }

  /** Checks until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs, random } = this.#options
    while (!signal.aborted) {
      // From check to check, however long one that is not answered takes.
      const due = clock.monotonic() + intervalMs * (1 + JITTER * (2 * random() - 1))
      await this.check()
      await sleep(clock, Math.max(0, due - clock.monotonic()), signal)
    }
  }

  async check(): Promise<void> {
    const isHealthy = await this.#options.isHealthy().catch(() => false)
    this.#wasHealthy ||= isHealthy
    this.#failures = isHealthy ? 0 : this.#failures + 1
    this.#checks++
  }

  /** The count begins anew: what was seen before a switch says nothing about the time after. */
  reset(): void {
    this.#failures = 0
    this.#checks = 0
  }
}
