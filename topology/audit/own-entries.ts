import type { EventEntry, JournalEntry, TimerEntry } from '../journal/entry.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import type { JournalEvent, Processor } from '../processor.js'
import type { Consequence, Folded, FoldState } from '../task/folder.js'
import type { FoldableRecord } from '../task/segment.js'
import { deadlineKey, engineTables, parseDeadlineKey } from '../task/table-runtime.js'

/** Indexes from here on are of no entry that was recorded: a block has fewer. */
const FIRST_INDEX = 60_000
const SOURCE = 'what-if'

/** What a task itself has appended to a journal, because its folds asked for it. */
export interface OwnEntries {
  /** Keys of the deadlines that have fired. */
  readonly timers: Set<string>
  /** Events that an output brings along once the log has taken it, as JSON. */
  readonly acknowledgements: Set<string>
  /** Times as of which it was asked how far inputs are taken in. */
  readonly intakes: Set<number>
}

export const noOwnEntries = (): OwnEntries => ({ timers: new Set(), acknowledgements: new Set(), intakes: new Set() })

interface Waiting {
  readonly kind: 'acknowledgements' | 'intakes'
  readonly event: JournalEvent
  readonly at: number
}

/**
 * What a live task would have appended under other settings: timers, acknowledged outputs and answers about inputs that the journal
 * has no record of, each at its time; inputs are taken in as late as the answer recorded last says. Those recorded come as
 * recorded, but for acknowledgements of outputs that were not made.
 */
export class OwnEntriesAnew {
  readonly #recorded: OwnEntries
  readonly #armed = new Set<string>()
  /** Of those armed, in order, when last looked; what was armed since may be due before them. */
  #due: string[] = []
  #nextDue = Number.POSITIVE_INFINITY
  readonly #made = new Set<string>()
  /** In order of time. */
  readonly #waiting: Waiting[] = []
  readonly #inputsTakenIn: Processor['inputsTakenIn']
  readonly #intakeType: string | undefined
  #intakeLagMs = 0
  #added = { timers: 0, acknowledgements: 0, intakes: 0 }
  #dropped = 0
  #last: { offset: number; timestamp: number; index: number } = { offset: 0, timestamp: 0, index: FIRST_INDEX }

  constructor(recorded: OwnEntries, { inputsTakenIn }: Processor) {
    this.#recorded = recorded
    this.#inputsTakenIn = inputsTakenIn
    this.#intakeType = inputsTakenIn?.({ asOf: 0, inputs: [] }).type
  }

  /** Entries folded that the journal has no record of. */
  get added(): { readonly timers: number; readonly acknowledgements: number; readonly intakes: number } {
    return this.#added
  }
  /** Acknowledgements left out, as their outputs were not made. */
  get dropped(): number {
    return this.#dropped
  }

  /** Learns what is armed and disarmed, and what is to be acknowledged. */
  folded({ entry, timestamp, changes, consequences }: Folded, { time }: FoldState): void {
    if (entry.kind === 'event' && entry.event.type === this.#intakeType && entry.source.source !== SOURCE) {
      const { asOf } = entry.event.data as { readonly asOf?: unknown }
      if (typeof asOf === 'number') this.#intakeLagMs = Math.max(0, timestamp - asOf)
    }
    for (const { table, key, after } of changes) {
      if (table !== engineTables.deadlines || this.#recorded.timers.has(key)) continue
      if (after === undefined) {
        this.#armed.delete(key)
      } else {
        this.#armed.add(key)
        this.#nextDue = Math.min(this.#nextDue, parseDeadlineKey(key).due)
      }
    }
    for (const consequence of consequences) this.#await(consequence, time)
  }

  /** What comes before a record, one by one, as each may bring another; then the record. */
  *before(record: DecodedRecord, state: FoldState): Generator<FoldableRecord> {
    for (;;) {
      const [waiting] = this.#waiting
      const key = this.#firstDue(Math.min(record.timestamp, waiting?.at ?? record.timestamp))
      if (key !== undefined) {
        const { due, id } = parseDeadlineKey(key)
        this.#armed.delete(key)
        this.#added.timers++
        yield this.#place({ kind: 'timer', source: this.#source(), due, id, epoch: state.epoch }, due)
      } else if (waiting !== undefined && waiting.at <= record.timestamp) {
        const { kind, event, at } = waiting
        this.#waiting.shift()
        this.#added[kind]++
        yield this.#place({ kind: 'event', source: this.#source(), event }, at)
      } else break
    }
    this.#last = { offset: record.offset, timestamp: record.timestamp, index: FIRST_INDEX }
    yield { ...record, entries: record.entries.map((entry) => (this.#wasMade(entry) ? entry : undefined)) }
  }

  #await(consequence: Consequence, time: number): void {
    const event = acknowledgedBy(consequence)
    if (event !== undefined) {
      const name = JSON.stringify(event)
      if (this.#recorded.acknowledgements.has(name)) this.#made.add(name)
      else this.#append({ kind: 'acknowledgements', event, at: time })
    } else if (consequence.kind === 'intakeAsked' && !this.#recorded.intakes.has(consequence.asOf)) {
      const { asOf } = consequence
      const answer = this.#inputsTakenIn?.({ asOf, inputs: [] })
      if (answer !== undefined) this.#append({ kind: 'intakes', event: answer, at: asOf + this.#intakeLagMs })
    }
  }

  #append(waiting: Waiting): void {
    const behind = this.#waiting.findLastIndex(({ at }) => at <= waiting.at)
    this.#waiting.splice(behind + 1, 0, waiting)
  }

  #wasMade(entry: JournalEntry): boolean {
    if (entry.kind !== 'event' || this.#recorded.acknowledgements.size === 0) return true
    const name = JSON.stringify(entry.event)
    if (!this.#recorded.acknowledgements.has(name) || this.#made.has(name)) return true
    this.#dropped++
    return false
  }

  #source(): EventEntry['source'] {
    const { timers, acknowledgements, intakes } = this.#added
    return { source: SOURCE, offset: timers + acknowledgements + intakes, index: 0 }
  }

  #place(entry: TimerEntry | EventEntry, time: number): FoldableRecord {
    const { offset, timestamp, index } = this.#last
    this.#last = { offset, timestamp: Math.max(timestamp, time), index: index + 1 }
    return { offset, timestamp: this.#last.timestamp, entries: [entry], firstIndex: index }
  }

  /** The earliest that is due by `time`. */
  #firstDue(time: number): string | undefined {
    for (;;) {
      const [first] = this.#due
      const firstDue = first === undefined ? Number.POSITIVE_INFINITY : parseDeadlineKey(first).due
      if (this.#nextDue <= Math.min(firstDue, time)) {
        this.#due = [...this.#armed].filter((key) => parseDeadlineKey(key).due <= time).sort()
        this.#nextDue = Number.POSITIVE_INFINITY
        for (const key of this.#armed) {
          const { due } = parseDeadlineKey(key)
          if (due > time) this.#nextDue = Math.min(this.#nextDue, due)
        }
        continue
      }
      if (first === undefined || firstDue > time) return undefined
      this.#due.shift()
      if (this.#armed.has(first)) return first
    }
  }
}

/** Takes in what of them a fold as recorded shows. */
export function noteOwnEntries({ entry, consequences }: Folded, recorded: OwnEntries): void {
  const { timers, acknowledgements, intakes } = recorded
  if (entry.kind === 'timer') timers.add(deadlineKey(entry.due, entry.id))
  for (const consequence of consequences) {
    const event = acknowledgedBy(consequence)
    if (event !== undefined) acknowledgements.add(JSON.stringify(event))
    if (consequence.kind === 'intakeAsked') intakes.add(consequence.asOf)
  }
}

function acknowledgedBy(consequence: Consequence): JournalEvent | undefined {
  return consequence.kind === 'output' ? consequence.acknowledged : undefined
}
