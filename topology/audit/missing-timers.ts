import type { TimerEntry } from '../journal/entry.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import type { Folded, FoldState } from '../task/folder.js'
import type { FoldableRecord } from '../task/segment.js'
import { deadlineKey, engineTables, parseDeadlineKey } from '../task/table-runtime.js'

/** Indexes from here on are of no entry that was recorded: a block has fewer. */
const FIRST_INDEX = 60_000

/**
 * Timers that other settings ask for and the journal has no record of: they fire as a live task would have fired them, at
 * their time. Those recorded fire as recorded.
 */
export class MissingTimers {
  readonly #recorded: ReadonlySet<string>
  readonly #armed = new Set<string>()
  #nextDue = Number.POSITIVE_INFINITY
  #fired = 0
  #last: { offset: number; timestamp: number; index: number } = { offset: 0, timestamp: 0, index: FIRST_INDEX }

  /** Keys of the deadlines that the journal has timer records of. */
  constructor(recorded: ReadonlySet<string>) {
    this.#recorded = recorded
  }

  /** Timers fired that the journal has no record of. */
  get fired(): number {
    return this.#fired
  }

  /** Learns what is armed and disarmed. */
  folded({ changes }: Folded): void {
    for (const { table, key, after } of changes) {
      if (table !== engineTables.deadlines || this.#recorded.has(key)) continue
      if (after === undefined) {
        this.#armed.delete(key)
      } else {
        this.#armed.add(key)
        this.#nextDue = Math.min(this.#nextDue, parseDeadlineKey(key).due)
      }
    }
  }

  /** What is due before a record, one by one, as each may arm another; then the record. */
  *before(record: DecodedRecord, state: FoldState): Generator<FoldableRecord> {
    while (this.#nextDue <= record.timestamp) {
      const key = this.#firstDue(record.timestamp)
      if (key === undefined) break
      const { due, id } = parseDeadlineKey(key)
      this.#armed.delete(key)
      this.#fired++
      const source = { source: 'what-if', offset: this.#fired, index: 0 }
      const timer: TimerEntry = { kind: 'timer', source, due, id, epoch: state.epoch }
      const { offset, timestamp, index } = this.#last
      this.#last = { offset, timestamp: Math.max(timestamp, due), index: index + 1 }
      yield { offset, timestamp: this.#last.timestamp, entries: [timer], firstIndex: index }
    }
    this.#last = { offset: record.offset, timestamp: record.timestamp, index: FIRST_INDEX }
    yield record
  }

  /** The earliest that is due by `time`; without one `nextDue` is the earliest of all. */
  #firstDue(time: number): string | undefined {
    let first: string | undefined
    for (const key of this.#armed) if (first === undefined || key < first) first = key
    const due = first === undefined ? Number.POSITIVE_INFINITY : parseDeadlineKey(first).due
    this.#nextDue = due
    return due <= time ? first : undefined
  }
}

/** Keys of the deadlines that a journal has timer records of. */
export function recordedTimers(records: Iterable<DecodedRecord>, into: Set<string>): void {
  for (const { entries } of records) {
    for (const entry of entries) if (entry.kind === 'timer') into.add(deadlineKey(entry.due, entry.id))
  }
}
