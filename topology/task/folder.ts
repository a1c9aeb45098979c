import { cut, ensureError } from '../../common/errors.js'
import type { BlockCodec } from '../journal/block-codec.js'
import type { EventEntry, JournalEntry, OwnerEntry, TimerEntry } from '../journal/entry.js'
import type {
  Compared,
  DeadLetterProblem,
  EffectRequest,
  EventPosition,
  IndexEntry,
  JournalEvent,
  Processor,
  Reads,
  RowReference,
  SourcePosition,
} from '../processor.js'
import { Context } from './fold-context.js'
import type { Output } from './output-record.js'
import type { RowChange, RowStore, TableState } from './row-store.js'
import { indexOf } from './row-scan.js'
import { settingsChange } from './settings-change.js'
import type { SettingsChange } from './settings-change.js'
import { deadlineKey, engineTables } from './table-runtime.js'
import type { AnswerRow, OwedRow, SourceRow } from './table-runtime.js'

/** What folding makes besides rows, in order. The task sends it; a replay throws it away. */
export type Consequence =
  | ({ readonly kind: 'output' } & Output)
  /** To one partition of the own journal, or to all. */
  | {
      readonly kind: 'send'
      readonly key: string | null
      readonly event: JournalEvent
      readonly source: SourcePosition
    }
  | { readonly kind: 'deadLetter'; readonly problem: DeadLetterProblem; readonly position: EventPosition }
  /** `failed`: the command's fold threw; there is no answer to keep. */
  | {
      readonly kind: 'answer'
      readonly commandId: string
      readonly answer: unknown
      readonly offset: number
      readonly failed?: true
    }
  | { readonly kind: 'request'; readonly effect: EffectRequest }
  | { readonly kind: 'settled'; readonly effectId: string }
  | { readonly kind: 'armed' | 'disarmed'; readonly due: number; readonly id: string }
  | { readonly kind: 'intakeAsked'; readonly asOf: number }
  /** `isNewest`: a new term has begun; else the record came too late. */
  | { readonly kind: 'owner'; readonly owner: OwnerEntry; readonly isNewest: boolean }
  | { readonly kind: 'fired'; readonly due: number; readonly id: string }
  | { readonly kind: 'failed'; readonly error: Error; readonly position: EventPosition }

export interface FolderOptions {
  readonly processor: Processor
  readonly partition: number
  /** Topic of the journal: part of every output's id. */
  readonly journal: string
  readonly rows: RowStore
  readonly codec: BlockCodec
  onConsequence(consequence: Consequence): void
  onCount(counter: string, label: string): void
  /** Audits: what each entry did, and why. */
  readonly onFolded?: ((folded: Folded) => void) | undefined
}

/** A rule that a fold named, with what it compared. */
export interface Rule {
  readonly rule: string
  readonly compared: Compared
}

/** What folding one entry did. */
export interface Folded {
  readonly entry: JournalEntry
  readonly position: EventPosition
  /** Of the journal record, ms. */
  readonly timestamp: number
  /** `repeated`: its source position was taken before; `failed`: its fold threw and changed nothing. */
  readonly outcome: 'folded' | 'repeated' | 'failed'
  readonly rules: readonly Rule[]
  readonly changes: readonly RowChange[]
  readonly consequences: readonly Consequence[]
}

/** What the folds of a partition remember besides rows; stored with each commit. */
export interface FoldState {
  /** Highest journal timestamp folded, ms. */
  time: number
  epoch: number
  foldVersion: number
  settings: unknown
  /** The newest change of settings, which brought those in force; absent: not known. */
  settingsChange?: SettingsChange
}

/** What an entry needs; `failure`: the processor could not say. */
export interface FoldReads extends Reads {
  readonly failure?: Error
}

/** How long an answer can be asked for again, and a process that sent over HTTP may repeat itself: ms of journal time. */
const ANSWER_LIFE_MS = 10 * 60_000
const HTTP_SOURCE_LIFE_MS = 24 * 3_600_000
const ANSWER_DEADLINE = '$answer/'
const NO_READS: Reads = { rows: [] }

/**
 * Folds journal entries into rows: deduplication by source position, deadlines, owner terms, answers, and the processor's
 * own `evolve`. Synchronous and free of clock, chance and network; the same entries give the same rows and consequences.
 */
export class Folder {
  readonly state: FoldState
  readonly #options: FolderOptions
  readonly #rows: RowStore
  readonly #sources: TableState
  readonly #deadlines: TableState
  readonly #answers: TableState
  readonly #owed: TableState
  readonly #context: Context
  readonly #consequences: Consequence[] = []
  #rules: Rule[] = []
  /** Highest positions taken in this segment, by source; rows at its end, for nearly every event takes the same source. */
  #taken = new Map<string, Taken>()

  constructor(options: FolderOptions, state: FoldState) {
    this.#options = options
    this.#rows = options.rows
    this.state = state
    this.#sources = options.rows.state(engineTables.sources)
    this.#deadlines = options.rows.state(engineTables.deadlines)
    this.#answers = options.rows.state(engineTables.answers)
    this.#owed = options.rows.state(engineTables.owed)
    this.#context = new Context(this, options)
  }

  /** What must be loaded before `fold` of this entry; or why the processor could not say. */
  reads(entry: JournalEntry): FoldReads {
    const own = ownRows(entry)
    try {
      const reads = this.#declaredReads(entry)
      const { rows, scan } = reads
      for (const { table } of rows) this.#rows.state(table)
      if (scan !== undefined) indexOf(this.#rows.state(scan.table), scan.index)
      return own.length === 0 ? reads : { rows: [...rows, ...own], ...(scan && { scan }) }
    } catch (thrown) {
      return { rows: own, failure: ensureError(thrown) }
    }
  }

  /**
   * Folds one entry. A fold that throws changes nothing: the event (or the deadline, which is then disarmed) goes to the dead
   * letters. The same when what it needs could not be found out: `failure`.
   */
  fold(
    entry: JournalEntry,
    position: EventPosition,
    timestamp: number,
    scanned: readonly IndexEntry[],
    failure?: Error,
  ): void {
    if (timestamp > this.state.time) this.state.time = timestamp
    if (!this.#isNew(entry.source)) {
      this.#options.onCount('repeated', entry.kind)
      if (entry.kind === 'event' && entry.commandId !== undefined) this.#repeatAnswer(entry.commandId)
      const nothing = { rules: [], changes: [], consequences: [] }
      this.#options.onFolded?.({ entry, position, timestamp, outcome: 'repeated', ...nothing })
      return
    }
    this.#rows.beginEvent()
    this.#consequences.length = 0
    this.#context.begin(entry, position, scanned)
    let outcome: Folded['outcome'] = 'folded'
    try {
      if (failure !== undefined) throw failure
      if (entry.kind === 'event') this.#foldEvent(entry)
      else if (entry.kind === 'timer') this.#foldTimer(entry)
      else this.#foldOwner(entry, position, timestamp)
    } catch (thrown) {
      this.#rows.revert()
      this.#context.drop()
      this.#consequences.length = 0
      outcome = 'failed'
      this.#fail(entry, position, ensureError(thrown))
    }
    this.#take(entry.source)
    this.#context.reportCounts()
    for (const consequence of this.#consequences) this.#options.onConsequence(consequence)
    this.#tell(entry, position, timestamp, outcome)
  }

  /** Notes a rule for `onFolded`; nothing without it. */
  because(rule: string, compared: Compared): void {
    if (this.#options.onFolded !== undefined) this.#rules.push({ rule, compared })
  }

  /** Puts what the segment's entries have taken of their sources, before anything is committed. */
  endSegment(): void {
    for (const [source, taken] of this.#taken) this.#rows.put(this.#sources, source, taken)
    this.#taken = new Map()
  }

  push(consequence: Consequence): void {
    this.#consequences.push(consequence)
  }

  arm(due: number, id: string): void {
    this.#rows.put(this.#deadlines, deadlineKey(due, id), true)
    this.push({ kind: 'armed', due, id })
  }

  disarm(due: number, id: string): void {
    this.#rows.put(this.#deadlines, deadlineKey(due, id), undefined)
    this.push({ kind: 'disarmed', due, id })
  }

  answer(commandId: string, answer: unknown, offset: number): void {
    this.#rows.put(this.#answers, commandId, { answer, offset } satisfies AnswerRow)
    this.arm(this.state.time + ANSWER_LIFE_MS, ANSWER_DEADLINE + commandId)
    this.push({ kind: 'answer', commandId, answer, offset })
  }

  request(effect: EffectRequest, order: OwedRow['order']): void {
    const { id, kind, target, payload } = effect
    this.#rows.put(this.#owed, id, { kind, target, payload, order } satisfies OwedRow)
    this.push({ kind: 'request', effect })
  }

  settle(effectId: string): void {
    this.#rows.put(this.#owed, effectId, undefined)
    this.push({ kind: 'settled', effectId })
  }

  #foldEvent(entry: EventEntry): void {
    if (entry.commandId !== undefined && this.#repeatAnswer(entry.commandId)) return
    if (entry.effectId !== undefined) {
      // A second result changes nothing.
      if (this.#rows.get(this.#owed, entry.effectId) === undefined) return
      this.settle(entry.effectId)
    }
    this.#options.processor.evolve(entry.event, this.#context)
  }

  #foldTimer(entry: TimerEntry): void {
    const isArmed = this.#rows.get(this.#deadlines, deadlineKey(entry.due, entry.id)) !== undefined
    // Still armed it is sent again.
    if (isArmed && (entry.epoch < this.state.epoch || entry.due > this.state.time)) return
    this.push({ kind: 'fired', due: entry.due, id: entry.id })
    if (!isArmed) return
    this.#rows.put(this.#deadlines, deadlineKey(entry.due, entry.id), undefined)
    if (entry.id.startsWith(ANSWER_DEADLINE)) {
      this.#rows.put(this.#answers, entry.id.slice(ANSWER_DEADLINE.length), undefined)
    } else {
      this.#options.processor.onDeadline({ due: entry.due, id: entry.id }, this.#context)
    }
  }

  #fail(entry: JournalEntry, position: EventPosition, error: Error): void {
    this.push({ kind: 'failed', error, position })
    if (entry.kind === 'owner') {
      // The term has begun all the same.
      this.push({ kind: 'owner', owner: entry, isNewest: true })
      return
    }
    const what = entry.kind === 'event' ? entry.event.type : `deadline ${cut(entry.id)}`
    const problem = { code: 'FOLD_FAILED', message: `${what}: ${cut(error.message, 200)}` }
    this.push({ kind: 'deadLetter', problem, position })
    if (entry.kind === 'timer') {
      // It would fail for ever.
      this.#rows.put(this.#deadlines, deadlineKey(entry.due, entry.id), undefined)
      this.push({ kind: 'fired', due: entry.due, id: entry.id })
    } else if (entry.commandId !== undefined) {
      const { commandId } = entry
      this.push({ kind: 'answer', commandId, answer: null, offset: position.offset, failed: true })
    }
  }

  #declaredReads(entry: JournalEntry): Reads {
    const { processor } = this.#options
    if (entry.kind === 'event') return processor.reads(entry.event)
    if (entry.kind === 'timer' && !entry.id.startsWith(ANSWER_DEADLINE)) return processor.readsOfDeadline(entry)
    return NO_READS
  }

  #foldOwner(entry: OwnerEntry, { offset }: EventPosition, timestamp: number): void {
    const isNewest = entry.epoch > this.state.epoch
    this.push({ kind: 'owner', owner: entry, isNewest })
    if (!isNewest) return
    const change = settingsChange(this.state.settings, entry, offset, timestamp)
    if (change !== undefined) this.state.settingsChange = change
    this.state.epoch = entry.epoch
    this.state.foldVersion = entry.foldVersion
    this.state.settings = JSON.parse(entry.settings) as unknown
    for (const [source, row] of this.#sources.resident ?? []) {
      if (source.startsWith('http/') && (row as SourceRow).time < this.state.time - HTTP_SOURCE_LIFE_MS) {
        this.#rows.put(this.#sources, source, undefined)
      }
    }
    this.#options.processor.onTerm?.(this.#context)
  }

  #tell(entry: JournalEntry, position: EventPosition, timestamp: number, outcome: Folded['outcome']): void {
    const { onFolded } = this.#options
    if (onFolded === undefined) return
    const rules = this.#rules
    this.#rules = []
    const consequences = [...this.#consequences]
    onFolded({ entry, position, timestamp, outcome, rules, changes: this.#rows.changes(), consequences })
  }

  #repeatAnswer(commandId: string): boolean {
    const kept = this.#rows.get(this.#answers, commandId) as AnswerRow | undefined
    if (kept === undefined) return false
    this.#options.onConsequence({ kind: 'answer', commandId, answer: kept.answer, offset: kept.offset })
    return true
  }

  #isNew(source: SourcePosition): boolean {
    const taken = this.#taken.get(source.source) ?? (this.#sources.resident?.get(source.source) as Taken | undefined)
    return (
      taken === undefined ||
      source.offset > taken.offset ||
      (source.offset === taken.offset && source.index > taken.index)
    )
  }

  #take({ source, offset, index }: SourcePosition): void {
    const { time } = this.state
    const taken = this.#taken.get(source)
    if (taken === undefined) {
      this.#taken.set(source, { offset, index, time })
    } else {
      taken.offset = offset
      taken.index = index
      taken.time = time
    }
  }
}

/** A `SourceRow` in the making. */
type Taken = { -readonly [Part in keyof SourceRow]: SourceRow[Part] }

/** Rows of the engine's own that an entry may touch. */
function ownRows(entry: JournalEntry): readonly RowReference[] {
  if (entry.kind === 'timer') return [{ table: engineTables.deadlines, key: deadlineKey(entry.due, entry.id) }]
  if (entry.kind === 'event' && entry.commandId !== undefined) {
    return [{ table: engineTables.answers, key: entry.commandId }]
  }
  return []
}
