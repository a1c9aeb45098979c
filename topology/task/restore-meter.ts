import type { Clock } from '../../common/clock.js'

/** Where a restore reads: the changelog, and behind that the journal. */
export type RestorePhase = 'changelog' | 'journal'

export interface RestoreStatus {
  readonly phase: RestorePhase
  /** Records read since the restore began; never falls. */
  readonly doneRecords: number
  /** Of which so many are known by now: what the journal holds beyond the changelog comes later. */
  readonly totalRecords: number
  /** At the pace of this phase; null: not known yet. */
  readonly recordsPerSecond: number | null
  readonly remainingMs: number | null
}

/** Measures a restore: phases, or further tries, one after the other. */
export class RestoreMeter {
  readonly #clock: Clock
  #phase: RestorePhase = 'changelog'
  /** Records of former phases. */
  #before = 0
  #done = 0
  #total = 0
  #startedAt: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** In this phase so many of so many records are done; fewer than before: it has begun anew. */
  reached(phase: RestorePhase, done: number, total: number): void {
    const startsAnew = this.#startedAt === undefined || phase !== this.#phase || done < this.#done
    if (startsAnew) {
      this.#before += this.#done
      this.#phase = phase
      this.#startedAt = this.#clock.monotonic()
    }
    this.#done = done
    this.#total = Math.max(done, total)
  }

  get status(): RestoreStatus {
    const elapsedMs = this.#clock.monotonic() - (this.#startedAt ?? this.#clock.monotonic())
    const pace = elapsedMs > 0 && this.#done > 0 ? this.#done / elapsedMs : undefined
    return {
      phase: this.#phase,
      doneRecords: this.#before + this.#done,
      totalRecords: this.#before + this.#total,
      recordsPerSecond: pace === undefined ? null : Math.round(pace * 1000),
      remainingMs: pace === undefined ? null : Math.round((this.#total - this.#done) / pace),
    }
  }
}
