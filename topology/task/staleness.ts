import type { Clock } from '../../common/clock.js'

interface Sample {
  readonly end: number
  readonly at: number
}

/** A store up to this journal offset holds all that the journal held at this monotonic time. */
export interface HeldJournal {
  readonly offset: number
  readonly at: number
}

/** Ends remembered while none is reached: what comes beyond waits for these. */
const MAX_SAMPLES = 64

/**
 * How long ago a copy that runs after its journal was known to hold all of it: it remembers where the journal ended when, and
 * which of these ends the copy has reached. On the copy's own monotonic clock.
 */
export class Staleness {
  readonly #clock: Clock
  #samples: Sample[] = []
  #knownAt: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Monotonic time at which the copy was last known to hold all of the journal; undefined: never. */
  get knownAt(): number | undefined {
    return this.#knownAt
  }

  /** Infinite in effect until an end was reached. */
  get ms(): number {
    return this.#knownAt === undefined ? Number.MAX_SAFE_INTEGER : this.#clock.monotonic() - this.#knownAt
  }

  /** The journal ended at `end` at this monotonic time, or later. */
  ended(end: number, at: number): void {
    const last = this.#samples.at(-1)
    if (last?.end === end) this.#samples.pop()
    else if (this.#samples.length >= MAX_SAMPLES) return
    this.#samples.push({ end, at })
  }

  /** The copy holds all before this journal offset. */
  reached(offset: number): void {
    const open = this.#samples.filter(({ end }) => end > offset)
    const newest = this.#samples[this.#samples.length - open.length - 1]
    if (newest !== undefined) this.#knownAt = newest.at
    this.#samples = open
  }

  /** The copy holds all that the journal held at this monotonic time. */
  reachedEnd(at: number): void {
    this.#knownAt = Math.max(at, this.#knownAt ?? at)
    this.#samples = []
  }
}
