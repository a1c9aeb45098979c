import type { Clock } from '../common/clock.js'

/** Folds begin in a turn of the event loop within so much of it, ms. */
const TURN_MS = 2
/** How far back in the order work goes that can wait, ms. */
const CAN_WAIT_MS = 50
/** After a turn with folds the queries under way come first, for so long at most, ms. */
const QUERIES_FIRST_MS = 5

interface Waiter {
  readonly due: number
  readonly resolve: () => void
}

/**
 * Shares the event loop between the folds of all tasks and those who wait for an answer: one turn of the loop holds few
 * folds, however many tasks have something to fold, and while queries are under way every other few milliseconds are theirs.
 */
export class Turns {
  readonly #clock: Clock
  #queries = 0
  /** Until when work may begin in the turn at hand; undefined: none has. */
  #closesAt: number | undefined
  #lastEndedAt = Number.NEGATIVE_INFINITY
  #waiting: Waiter[] = []
  #cancelTimer: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  queryBegins(): void {
    this.#queries++
  }

  /** The next query of the same caller comes first, too. */
  queryEnds(): void {
    if (--this.#queries === 0 && this.#waiting.length > 0) setImmediate(() => this.#wake())
  }

  /**
   * Does a piece of work that holds the event loop, when its turn has come: in the order of the calls, but what can wait a
   * little behind what cannot.
   */
  async run<Result>(work: () => Result, canWait = false): Promise<Result> {
    const due = this.#clock.monotonic() + (canWait ? CAN_WAIT_MS : 0)
    while (!this.#isOpen()) await new Promise<void>((resolve) => this.#waiting.push({ due, resolve }))
    return work()
  }

  #isOpen(): boolean {
    const now = this.#clock.monotonic()
    if (this.#closesAt !== undefined) return now < this.#closesAt
    const queriesUntil = this.#lastEndedAt + QUERIES_FIRST_MS
    if (this.#queries > 0 && now < queriesUntil) {
      this.#cancelTimer ??= this.#clock.setTimer(() => this.#wake(), Math.ceil(queriesUntil - now))
      return false
    }
    this.#closesAt = now + TURN_MS
    setImmediate(() => {
      this.#closesAt = undefined
      this.#lastEndedAt = this.#clock.monotonic()
      this.#wake()
    })
    return true
  }

  #wake(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const waiting = this.#waiting.sort((a, b) => a.due - b.due)
    this.#waiting = []
    for (const { resolve } of waiting) resolve()
  }
}
