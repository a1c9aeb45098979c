import { seededRandom } from '../../common/random.js'
import type { Random } from '../../common/random.js'
import type { KeepAliveEvent } from '../../schemas/keep-alive/journal-events.js'
import { KeepAliveKit, RIC } from './test-kit.js'

/**
 * A RIC with its E2 terminations, the topics between, and a manager that pauses, restarts, moves and lags, in one run of a
 * seed. The folds are the real ones; around them stands a small engine: the journal stamps what is appended when it is appended, timers
 * fire late when their owner is paused, requests count when the log has taken them, answers when ingest has.
 */

export const TIMEOUT_MS = 1500
export const DELAY_MS = 500
/** The last disturbance ends so long before the end of a run. */
export const QUIET_MS = 6000
const RUN_MS = 20_000

/** A termination as a simulation makes it. */
export interface Termination {
  readonly address: string
  /** Longest time to its answer, ms. */
  readonly latencyMs: number
  /** Share of its requests and answers that are lost. */
  readonly lossShare: number
  /** When it dies; infinity: it does not. */
  readonly diesAt: number
  /** When its answers came to stand in the topic. */
  readonly answeredAt: number[]
  killedAt: number
}

export interface Fault {
  readonly address: string
  readonly what: string
}

export interface Outcome {
  readonly faults: readonly Fault[]
  readonly kills: number
  /** Kills of dead terminations while nothing disturbed the manager: ms after their last answer. */
  readonly undisturbedAges: readonly number[]
}

interface Happening {
  readonly at: number
  readonly order: number
  run(): void
}

export class SimulatedWorld {
  readonly #random: Random
  readonly #kit = new KeepAliveKit()
  readonly #terminations: readonly Termination[]
  readonly #start: number
  #happenings: Happening[] = []
  #order = 0
  /** The owner folds nothing and sends nothing before this; the same for ingest. */
  #ownerPausedUntil = 0
  #ingestPausedUntil = 0
  #logDownUntil = 0
  #disturbedUntil = 0
  #disturbed = false
  #term = 1
  /** Answers in the topic that are not in the journal yet. */
  readonly #topic: string[] = []
  #takenIn = 0
  /** Of the last claim of intake: up to when all answers were in the journal. */
  #claimed = 0
  /** When requests came to stand in their topic. */
  readonly #sentAt: number[] = []
  readonly #faults: Fault[] = []
  readonly #undisturbedAges: number[] = []

  constructor(seed: number) {
    const random = seededRandom(seed)
    this.#random = random
    const kit = this.#kit
    this.#start = kit.time
    this.#terminations = Array.from({ length: 2 + Math.floor(random() * 6) }, (_, i) => {
      const kind = random()
      return {
        address: `e2t-${i}:38000`,
        latencyMs: 1 + Math.floor(random() * 300),
        lossShare: kind < 0.3 ? 0.3 * random() : 0,
        diesAt: kind > 0.6 ? this.#start + 3000 + Math.floor(random() * (RUN_MS - QUIET_MS - 3000)) : Infinity,
        answeredAt: [this.#start],
        killedAt: 0,
      }
    })
    for (const { address } of this.#terminations) kit.init(address)
    kit.routingManager = 'away'
    kit.acknowledges = false
    kit.takesIn = false
    if (random() < 0.85) this.#planDisturbances()
  }

  run(): Outcome {
    const end = this.#start + RUN_MS
    this.#planTick()
    for (let next = this.#next(); next !== undefined && next.at <= end; next = this.#next()) {
      this.#kit.time = Math.max(this.#kit.time, next.at)
      next.run()
      this.#look()
    }
    for (const { address, diesAt, killedAt } of this.#terminations) {
      if (diesAt !== Infinity && killedAt === 0) this.#faults.push({ address, what: 'died, and was not killed' })
    }
    return {
      faults: this.#faults,
      kills: this.#terminations.filter(({ killedAt }) => killedAt > 0).length,
      undisturbedAges: this.#undisturbedAges,
    }
  }

  #now(): number {
    return this.#kit.time
  }

  #at(at: number, run: () => void): void {
    this.#happenings.push({ at: Math.max(at, this.#now()), order: this.#order++, run })
  }

  #next(): Happening | undefined {
    let first = 0
    for (let i = 1; i < this.#happenings.length; i++) {
      const [a, b] = [this.#happenings[i], this.#happenings[first]]
      if (a !== undefined && b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order))) first = i
    }
    return this.#happenings.splice(first, 1)[0]
  }

  #upTo(ms: number): number {
    return Math.floor(this.#random() * ms)
  }

  #planDisturbances(): void {
    const count = 1 + this.#upTo(4)
    for (let i = 0; i < count; i++) {
      const lastMs = RUN_MS - QUIET_MS - 5000
      const at = this.#start + 1500 + this.#upTo(lastMs - 1500)
      const ms = 50 + this.#upTo(5000)
      const kind = this.#random()
      this.#at(at, () => {
        const until = at + ms
        this.#disturbed = true
        this.#disturbedUntil = Math.max(this.#disturbedUntil, until)
        if (kind < 0.3) {
          // The whole process stops.
          this.#ownerPausedUntil = Math.max(this.#ownerPausedUntil, until)
          this.#ingestPausedUntil = Math.max(this.#ingestPausedUntil, until)
        } else if (kind < 0.45) {
          this.#ownerPausedUntil = Math.max(this.#ownerPausedUntil, until)
        } else if (kind < 0.65) {
          this.#ingestPausedUntil = Math.max(this.#ingestPausedUntil, until)
        } else if (kind < 0.75) {
          this.#logDownUntil = Math.max(this.#logDownUntil, until)
        } else {
          // A restart, or the task moves: acknowledgements and claims of the former owner may still come.
          this.#ownerPausedUntil = Math.max(this.#ownerPausedUntil, until)
          if (kind < 0.9) this.#ingestPausedUntil = Math.max(this.#ingestPausedUntil, until)
          this.#at(until, () => {
            this.#term++
            this.#kit.epoch = this.#term
          })
        }
      })
    }
  }

  /** Runs when the owner runs. */
  #asOwner(at: number, run: () => void): void {
    this.#at(at, () => {
      if (this.#now() < this.#ownerPausedUntil) this.#asOwner(this.#ownerPausedUntil + this.#upTo(5), run)
      else run()
    })
  }

  #planTick(): void {
    const tick = this.#kit.deadlines(RIC).find(({ id }) => id.startsWith('tick'))
    if (tick === undefined) return
    // Timers fire late by some ms.
    this.#asOwner(tick.due + this.#upTo(8), () => {
      if (this.#now() < tick.due) return
      this.#kit.fire(0, tick)
      this.#sendRequests()
      this.#takeClaims()
      this.#planTick()
    })
  }

  #sendRequests(): void {
    for (const acknowledgement of this.#kit.unacknowledged.splice(0)) {
      const takenAt = Math.max(this.#now(), this.#logDownUntil) + 1 + this.#upTo(10)
      this.#at(takenAt, () => {
        this.#sentAt.push(this.#now())
        for (const termination of this.#terminations) this.#request(termination)
      })
      this.#asOwner(takenAt + 1 + this.#upTo(5), () => this.#append(acknowledgement))
    }
  }

  #request(termination: Termination): void {
    const { latencyMs, lossShare, address } = termination
    if (this.#random() < lossShare) return
    this.#at(this.#now() + 1 + this.#upTo(latencyMs), () => {
      if (this.#now() >= termination.diesAt || this.#random() < lossShare) return
      this.#topic.push(address)
      // Delivered twice now and then.
      if (this.#random() < 0.05) this.#topic.push(address)
      termination.answeredAt.push(this.#now())
      this.#ingest()
    })
  }

  #ingest(): void {
    this.#at(Math.max(this.#now() + 1 + this.#upTo(10), this.#ingestPausedUntil), () => {
      if (this.#now() < this.#ingestPausedUntil) {
        this.#ingest()
        return
      }
      for (; this.#takenIn < this.#topic.length; this.#takenIn++) {
        this.#append({ type: 'KeepAliveAnswered', data: { ric: RIC, address: this.#topic[this.#takenIn] ?? '' } })
      }
    })
  }

  /** As the engine: the topic's end is read after the journal time was noted, and told once ingest has reached it. */
  #takeClaims(): void {
    for (const claim of this.#kit.notTakenIn.splice(0)) {
      this.#asOwner(this.#now() + 1 + this.#upTo(10), () => {
        const end = this.#topic.length
        const wait = (): void => {
          if (this.#takenIn >= end) this.#tellTakenIn(claim)
          else this.#asOwner(this.#now() + 10, wait)
        }
        wait()
      })
    }
  }

  #tellTakenIn(claim: KeepAliveEvent): void {
    if (claim.type === 'E2tMessagesTakenIn') this.#claimed = claim.data.asOf
    this.#append(claim)
  }

  #append(event: KeepAliveEvent): void {
    this.#kit.append(RIC, event)
  }

  /** Judges kills by what was seen from outside, up to the time that the answers were known of. */
  #look(): void {
    for (const termination of this.#terminations) {
      const { address, diesAt, lossShare } = termination
      if (termination.killedAt > 0 || this.#kit.instance(address)?.state !== 'TO_BE_DELETED') continue
      termination.killedAt = this.#now()
      const asOf = this.#claimed
      const answeredAt = termination.answeredAt.filter((at) => at <= asOf).at(-1) ?? 0
      const requests = this.#sentAt.filter((at) => at > answeredAt && at <= asOf).length
      if (asOf - answeredAt <= TIMEOUT_MS) this.#fault(address, 'killed, with an answer in the topic in time')
      if (requests < TIMEOUT_MS / DELAY_MS)
        this.#fault(address, `killed with ${requests} requests sent since its answer`)
      if (lossShare > 0) continue
      if (diesAt > this.#now())
        this.#fault(address, `alive, and killed ${this.#now() - answeredAt} ms after its last answer`)
      else this.#judgeDelay(address, answeredAt)
    }
  }

  #judgeDelay(address: string, answeredAt: number): void {
    if (!this.#disturbed) this.#undisturbedAges.push(this.#now() - answeredAt)
    const since = this.#now() - Math.max(answeredAt, this.#disturbedUntil)
    // A fresh start may take a tick to come.
    if (since > TIMEOUT_MS + 2 * DELAY_MS + 200) {
      this.#fault(address, `dead, and killed only ${since} ms after its last answer and all disturbance`)
    }
  }

  #fault(address: string, what: string): void {
    this.#faults.push({ address, what: `${what}, ${this.#now() - this.#start} ms after the start` })
  }
}
