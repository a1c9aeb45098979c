import type { CancelTimer, Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { JournalWriter } from '../journal/journal-writer.js'
import type { Deadline } from '../processor.js'
import { DeadlineWindow } from './deadline-window.js'
import type { RowStore } from './row-store.js'
import { scanRows } from './row-scan.js'
import { deadlineKey, engineTables, parseDeadlineKey } from './table-runtime.js'

export interface TimersOptions {
  readonly clock: Clock
  readonly rows: RowStore
  readonly writer: Pick<JournalWriter, 'append'>
  /** Journal time now: the last stamp folded plus what the monotonic clock ran since. */
  journalTime(): number
  epoch(): number
  onError(error: Error): void
}

/** Timer records of one append: overdue ones fire in order, in portions. */
const PORTION = 500
/** A record not read back by then is sent again; folding it twice is harmless. */
const RESEND_MS = 10_000
/** Longest wait: a timer far ahead is looked at again, since journal time may have moved. */
const MAX_WAIT_MS = 60_000

/**
 * Writes timer records for the deadlines that have passed, while the task is live. Only reading a record back acts; so a
 * stalled process shows as late records, and a replay needs no clock.
 */
export class Timers {
  readonly #options: TimersOptions
  readonly #window = new DeadlineWindow()
  readonly #sent = new Map<string, number>()
  #nextDue = Number.NEGATIVE_INFINITY
  #isEarlier = false
  #cancel: CancelTimer | undefined
  #firing: Promise<void> | undefined
  #running = false

  constructor(options: TimersOptions) {
    this.#options = options
  }

  /** Begins a term: what a former one has sent counts no longer. */
  start(): void {
    this.#running = true
    this.#window.clear()
    this.#sent.clear()
    this.#nextDue = Number.NEGATIVE_INFINITY
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#cancel?.()
    await this.#firing
  }

  armed({ due, id }: Deadline): void {
    this.#window.armed(deadlineKey(due, id))
    if (due >= this.#nextDue) return
    this.#nextDue = due
    this.#isEarlier = true
  }

  disarmed({ due, id }: Deadline): void {
    this.#window.disarmed(deadlineKey(due, id))
  }

  /** All that a fold has armed and disarmed was told. */
  folded(): void {
    if (this.#isEarlier) this.#schedule()
    this.#isEarlier = false
  }

  /** A timer record was read back. */
  fired({ due, id }: Deadline): void {
    const key = deadlineKey(due, id)
    this.#sent.delete(key)
    this.#window.disarmed(key)
  }

  #schedule(): void {
    if (!this.#running || this.#firing !== undefined) return
    this.#cancel?.()
    const wait = Math.min(MAX_WAIT_MS, this.#nextDue - this.#options.journalTime())
    if (wait <= 0) this.#fire()
    else this.#cancel = this.#options.clock.setTimer(() => this.#fire(), Math.max(1, Math.ceil(wait)))
  }

  #fire(): void {
    if (!this.#running || this.#firing !== undefined) return
    this.#firing = this.#firePortion()
      .catch((thrown: unknown) => {
        this.#options.onError(ensureError(thrown))
        this.#nextDue = this.#options.journalTime() + 1000
      })
      .then(() => {
        this.#firing = undefined
        this.#schedule()
      })
  }

  async #firePortion(): Promise<void> {
    const { clock, writer } = this.#options
    this.#nextDue = Number.POSITIVE_INFINITY
    const now = this.#options.journalTime()
    let due = this.#unsent(now)
    while (due.length < PORTION && this.#window.endsAt <= now) {
      const { rows } = this.#options
      const state = rows.state(engineTables.deadlines)
      await this.#window.extend((after) => scanRows(rows, state, { ...(after !== undefined && { after }) }))
      due = this.#unsent(now)
    }
    this.#nextDue = Math.min(this.#nextDue, this.#window.endsAt)
    if (due.length === 0) return
    for (const { due: at, id } of due) this.#sent.set(deadlineKey(at, id), clock.monotonic())
    this.#nextDue = Math.min(this.#nextDue, now + RESEND_MS)
    const epoch = this.#options.epoch()
    await writer.append(due.map((deadline) => ({ kind: 'timer' as const, ...deadline, epoch })))
  }

  /** What is due and not sent, or not of late: a portion at most. Notes when it is time to look again. */
  #unsent(now: number): readonly Deadline[] {
    const due: Deadline[] = []
    const resendBefore = this.#options.clock.monotonic() - RESEND_MS
    for (const key of this.#window.keys) {
      const deadline = parseDeadlineKey(key)
      if (deadline.due > now || due.length === PORTION) {
        this.#nextDue = Math.min(this.#nextDue, deadline.due)
        break
      }
      const sentAt = this.#sent.get(key)
      if (sentAt === undefined || sentAt <= resendBefore) due.push(deadline)
      else this.#nextDue = Math.min(this.#nextDue, now + (sentAt - resendBefore))
    }
    return due
  }
}
