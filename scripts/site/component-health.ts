import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'

export interface ComponentHealthOptions {
  readonly clock: Clock
  /** Between two checks. */
  readonly intervalMs: number
  /** What is wrong, in words; empty: nothing. */
  readonly troubles: () => readonly string[]
  /** Resolves when the log has answered. */
  readonly probeLog: () => Promise<unknown>
}

/** Checks in a row that turn the verdict. */
const IN_A_ROW = 3
const STARTING_MS = 250
const LOG_LIMIT_MS = 5000
/** A timer that comes so much later shows that the event loop was blocked. */
const LOOP_LIMIT_MS = 1000

/**
 * The health of all that this instance is made of, as of the last checks: three bad ones in a row turn it, three good ones turn
 * it back; the first good one after a start decides alone. Reading it costs nothing. (two sites, decision 38)
 */
export class ComponentHealth {
  readonly #options: ComponentHealthOptions
  #isHealthy = false
  #reasons: readonly string[] = ['not checked yet']
  #contrary = 0
  /** No check was good yet: the first that is decides alone, and it is looked for often. */
  #isStarting = true
  #healthySince: number | undefined

  constructor(options: ComponentHealthOptions) {
    this.#options = options
  }

  get isHealthy(): boolean {
    return this.#isHealthy
  }
  /** It was well once, and is not any more. */
  get hasFailed(): boolean {
    return !this.#isStarting && !this.#isHealthy
  }
  /** Why it is not well, as of the last bad check; none where it is. */
  get reasons(): readonly string[] {
    return this.#isHealthy ? [] : this.#reasons
  }
  /** ms for which every check was good; 0 after a bad one. */
  get goodForMs(): number {
    return this.#healthySince === undefined ? 0 : this.#options.clock.monotonic() - this.#healthySince
  }

  /** Checks until `signal` is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs } = this.#options
    for (let lateMs = 0; !signal.aborted;) {
      await this.#check(lateMs)
      const due = clock.monotonic() + (this.#isStarting ? Math.min(intervalMs, STARTING_MS) : intervalMs)
      await sleep(clock, Math.max(0, due - clock.monotonic()), signal)
      lateMs = clock.monotonic() - due
    }
  }

  /** One check, for which the timer came so late. */
  async #check(lateMs: number): Promise<void> {
    const blocked = lateMs > LOOP_LIMIT_MS ? [`the event loop was blocked for ${Math.round(lateMs)} ms`] : []
    this.#judge([...blocked, ...this.#options.troubles(), ...(await this.#logTroubles())])
  }

  #judge(reasons: readonly string[]): void {
    const isGood = reasons.length === 0
    if (isGood) {
      this.#healthySince ??= this.#options.clock.monotonic()
    } else {
      this.#reasons = reasons
      this.#healthySince = undefined
    }
    this.#contrary = isGood === this.#isHealthy ? 0 : this.#contrary + 1
    if (this.#contrary < (this.#isStarting ? 1 : IN_A_ROW)) return
    this.#isHealthy = isGood
    this.#contrary = 0
    this.#isStarting = false
  }

  async #logTroubles(): Promise<readonly string[]> {
    const { clock, probeLog } = this.#options
    const done = new AbortController()
    const late = sleep(clock, LOG_LIMIT_MS, done.signal).then(() => [
      `the log did not answer within ${LOG_LIMIT_MS} ms`,
    ])
    const answered = probeLog().then(
      () => [],
      (thrown: unknown) => [`the log: ${ensureError(thrown).message}`],
    )
    const troubles = await Promise.race([answered, late])
    done.abort()
    return troubles
  }
}
