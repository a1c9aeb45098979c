import type { Clock } from '../common/clock.js'

/** Folds begin in a turn of the event loop within so much of it, ms. */
const TURN_MS = 2
/** How far ahead in the order work goes, ms: what is due before what was read, and that before what can wait a little. */
const AHEAD_MS = { due: 50, read: 0, canWait: -50 } as const
/** After something that could wait the queries under way come before the next, for as long as it took, or so long, ms. */
const QUERIES_FIRST_MS = 5

type Kind = keyof typeof AHEAD_MS

interface Waiter {
  readonly place: number
  readonly resolve: () => void
}

/**
 * Shares the event loop between the folds of all tasks and those who wait for an answer: one turn of the loop holds few
 * folds, however many tasks have something to fold; and what can wait leaves half of the time to the queries under way.
 */
export class Turns {
  readonly #clock: Clock
  #queries = 0
  /** Until when work may begin in the turn at hand; undefined: none has. */
  #closesAt: number | undefined
  /** Until when queries come before what can wait. */
  #queriesUntil = Number.NEGATIVE_INFINITY
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
   * Does a piece of work that holds the event loop, when its turn has come: in the order of the calls, each kind so far ahead
   * of the next that none waits for ever.
   */
  async run<Result>(work: () => Result, kind: Kind = 'read'): Promise<Result> {
    const place = this.#clock.monotonic() - AHEAD_MS[kind]
    while (!this.#isOpen(kind)) await new Promise<void>((resolve) => this.#waiting.push({ place, resolve }))
    const began = this.#clock.monotonic()
    try {
      return work()
    } finally {
      const ended = this.#clock.monotonic()
      if (kind === 'canWait') this.#queriesUntil = ended + Math.min(QUERIES_FIRST_MS, ended - began)
    }
  }

  #isOpen(kind: Kind): boolean {
    const now = this.#clock.monotonic()
    if (kind === 'canWait' && this.#queries > 0 && now < this.#queriesUntil) {
      this.#cancelTimer ??= this.#clock.setTimer(() => this.#wake(), Math.ceil(this.#queriesUntil - now))
      return false
    }
    if (this.#closesAt !== undefined) return now < this.#closesAt
    this.#closesAt = now + TURN_MS
    setImmediate(() => {
      this.#closesAt = undefined
      this.#wake()
    })
    return true
  }

  #wake(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const waiting = this.#waiting.sort((a, b) => a.place - b.place)
    this.#waiting = []
    for (const { resolve } of waiting) resolve()
  }
}
