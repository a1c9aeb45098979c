import { v5 as uuidV5 } from 'uuid'
import { cut, ensureError } from '../../common/errors.js'
import type { EventEntry, JournalEntry, OwnerEntry, TimerEntry } from '../journal/entry.js'
import type { NewRecord } from '../log/log.js'
import type {
  DeadLetterProblem,
  EffectRequest,
  EventPosition,
  FoldContext,
  IndexEntry,
  JournalEvent,
  OutputTopic,
  Processor,
  Reads,
  SourcePosition,
  Table,
} from '../processor.js'
import type { RowStore, TableState } from './row-store.js'
import { deadlineKey, engineTables } from './table-runtime.js'
import type { AnswerRow, SourceRow } from './table-runtime.js'

/** What folding makes besides rows, in order. The task sends it; a replay throws it away. */
export type Consequence =
  | { readonly kind: 'output'; readonly output: OutputTopic; readonly key: string; readonly record: NewRecord }
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
  | { readonly kind: 'armed'; readonly due: number }
  | { readonly kind: 'owner'; readonly owner: OwnerEntry }
  | { readonly kind: 'fired'; readonly due: number; readonly id: string }
  | { readonly kind: 'failed'; readonly error: Error; readonly position: EventPosition }

export interface FolderOptions {
  readonly processor: Processor
  readonly partition: number
  /** Topic of the journal: part of every output's id. */
  readonly journal: string
  readonly rows: RowStore
  onConsequence(consequence: Consequence): void
  onCount(counter: string, label: string): void
}

/** What the folds of a partition remember besides rows; stored with each commit. */
export interface FoldState {
  /** Highest journal timestamp folded, ms. */
  time: number
  epoch: number
  foldVersion: number
  settings: unknown
}

/** Name space of output ids. */
const OUTPUT_ID_NAMESPACE = '4d1f2b1e-6d0c-5c53-9d5a-0f2f1d7c8a11'
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

  /** What must be loaded before `fold` of this entry. */
  reads(entry: JournalEntry): Reads {
    const { processor } = this.#options
    switch (entry.kind) {
      case 'owner':
        return NO_READS
      case 'timer': {
        const deadline = { table: engineTables.deadlines as Table<unknown>, key: deadlineKey(entry.due, entry.id) }
        if (entry.id.startsWith(ANSWER_DEADLINE)) return { rows: [deadline] }
        const reads = processor.readsOfDeadline(entry)
        return { ...reads, rows: [...reads.rows, deadline] }
      }
      case 'event': {
        const reads = processor.reads(entry.event)
        if (entry.commandId === undefined) return reads
        return {
          ...reads,
          rows: [...reads.rows, { table: engineTables.answers, key: entry.commandId }],
        }
      }
    }
  }

  /** Folds one entry. A fold that throws changes nothing: the event goes to the dead letters. */
  fold(entry: JournalEntry, position: EventPosition, timestamp: number, scanned: readonly IndexEntry[]): void {
    if (timestamp > this.state.time) this.state.time = timestamp
    if (!this.#isNew(entry.source)) {
      this.#options.onCount('repeated', entry.kind)
      if (entry.kind === 'event' && entry.commandId !== undefined) this.#repeatAnswer(entry.commandId)
      return
    }
    this.#rows.beginEvent()
    this.#consequences.length = 0
    this.#context.begin(entry, position, scanned)
    try {
      if (entry.kind === 'event') this.#foldEvent(entry)
      else if (entry.kind === 'timer') this.#foldTimer(entry)
      else this.#foldOwner(entry)
    } catch (thrown) {
      this.#rows.revert()
      this.#context.drop()
      const error = ensureError(thrown)
      this.#consequences.length = 0
      this.#consequences.push({ kind: 'failed', error, position })
      if (entry.kind === 'event') {
        const problem = { code: 'FOLD_FAILED', message: `${entry.event.type}: ${cut(error.message, 200)}` }
        this.#consequences.push({ kind: 'deadLetter', problem, position })
        if (entry.commandId !== undefined) {
          const { commandId } = entry
          this.#consequences.push({ kind: 'answer', commandId, answer: null, offset: position.offset, failed: true })
        }
      }
    }
    // After the events own changes, so that one taken back is not taken again.
    this.#take(entry.source)
    this.#context.reportCounts()
    for (const consequence of this.#consequences) this.#options.onConsequence(consequence)
  }

  push(consequence: Consequence): void {
    this.#consequences.push(consequence)
  }

  arm(due: number, id: string): void {
    this.#rows.put(this.#deadlines, deadlineKey(due, id), true)
    this.push({ kind: 'armed', due })
  }

  disarm(due: number, id: string): void {
    this.#rows.put(this.#deadlines, deadlineKey(due, id), undefined)
  }

  answer(commandId: string, answer: unknown, offset: number): void {
    this.#rows.put(this.#answers, commandId, { answer, offset } satisfies AnswerRow)
    this.arm(this.state.time + ANSWER_LIFE_MS, ANSWER_DEADLINE + commandId)
    this.push({ kind: 'answer', commandId, answer, offset })
  }

  request(effect: EffectRequest): void {
    this.#rows.put(this.#owed, effect.id, { kind: effect.kind, target: effect.target, payload: effect.payload })
    this.push({ kind: 'request', effect })
  }

  settle(effectId: string): void {
    this.#rows.put(this.#owed, effectId, undefined)
    this.push({ kind: 'settled', effectId })
  }

  outputId(position: EventPosition, index: number): string {
    const { journal, partition } = this.#options
    return uuidV5(`${journal}/${partition}/${position.offset}/${position.index}/${index}`, OUTPUT_ID_NAMESPACE)
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
    this.push({ kind: 'fired', due: entry.due, id: entry.id })
    if (entry.epoch < this.state.epoch || entry.due > this.state.time) return
    if (this.#rows.get(this.#deadlines, deadlineKey(entry.due, entry.id)) === undefined) return
    this.disarm(entry.due, entry.id)
    if (entry.id.startsWith(ANSWER_DEADLINE)) {
      this.#rows.put(this.#answers, entry.id.slice(ANSWER_DEADLINE.length), undefined)
    } else {
      this.#options.processor.onDeadline({ due: entry.due, id: entry.id }, this.#context)
    }
  }

  #foldOwner(entry: OwnerEntry): void {
    if (entry.epoch <= this.state.epoch) return
    this.state.epoch = entry.epoch
    this.state.foldVersion = entry.foldVersion
    this.state.settings = JSON.parse(entry.settings) as unknown
    for (const [source, row] of this.#sources.resident ?? []) {
      if (source.startsWith('http/') && (row as SourceRow).time < this.state.time - HTTP_SOURCE_LIFE_MS) {
        this.#rows.put(this.#sources, source, undefined)
      }
    }
    this.push({ kind: 'owner', owner: entry })
  }

  #repeatAnswer(commandId: string): boolean {
    const kept = this.#rows.get(this.#answers, commandId) as AnswerRow | undefined
    if (kept === undefined) return false
    this.#options.onConsequence({ kind: 'answer', commandId, answer: kept.answer, offset: kept.offset })
    return true
  }

  #isNew(source: SourcePosition): boolean {
    const taken = this.#sources.resident?.get(source.source) as SourceRow | undefined
    return (
      taken === undefined ||
      source.offset > taken.offset ||
      (source.offset === taken.offset && source.index > taken.index)
    )
  }

  #take(source: SourcePosition): void {
    const row: SourceRow = { offset: source.offset, index: source.index, time: this.state.time }
    this.#rows.put(this.#sources, source.source, row)
  }
}

/** The one context of a folder, reused for every event. */
class Context implements FoldContext {
  readonly #folder: Folder
  readonly #options: FolderOptions
  readonly #counts: [counter: string, label: string][] = []
  #entry: JournalEntry | undefined
  #outputs = 0
  position: EventPosition = { offset: 0, index: 0 }
  source: SourcePosition = { source: '', offset: 0, index: 0 }
  scanned: readonly IndexEntry[] = []
  readonly partition: number

  constructor(folder: Folder, options: FolderOptions) {
    this.#folder = folder
    this.#options = options
    this.partition = options.partition
  }

  begin(entry: JournalEntry, position: EventPosition, scanned: readonly IndexEntry[]): void {
    this.#entry = entry
    this.#outputs = 0
    this.position = position
    this.source = entry.source
    this.scanned = scanned
  }

  drop(): void {
    this.#counts.length = 0
  }

  reportCounts(): void {
    for (const [counter, label] of this.#counts) this.#options.onCount(counter, label)
    this.#counts.length = 0
  }

  get time(): number {
    return this.#folder.state.time
  }

  get settings(): unknown {
    return this.#folder.state.settings
  }

  get actor(): string | undefined {
    return this.#entry?.kind === 'event' ? this.#entry.actor : undefined
  }

  get reason(): string | undefined {
    return this.#entry?.kind === 'event' ? this.#entry.reason : undefined
  }

  get<Row>(table: Table<Row>, key: string): Row | undefined {
    const { rows } = this.#options
    return rows.get(rows.state(table), key) as Row | undefined
  }

  put<Row>(table: Table<Row>, key: string, row: Row): void {
    const { rows } = this.#options
    rows.put(rows.state(table), key, row)
  }

  delete(table: Table<unknown>, key: string): void {
    const { rows } = this.#options
    rows.put(rows.state(table), key, undefined)
  }

  resident<Row>(table: Table<Row>): Iterable<readonly [key: string, row: Row]> {
    return residentRows(this.#options.rows.state(table)) as [string, Row][]
  }

  emit(
    output: OutputTopic,
    record: { key: string; value: string | Buffer; headers: readonly (readonly [string, string])[] },
  ): void {
    const headers: [string, Buffer][] = [
      ['ce_specversion', Buffer.from('1.0')],
      ['ce_id', Buffer.from(this.#folder.outputId(this.position, this.#outputs++))],
      ['ce_time', Buffer.from(new Date(this.time).toISOString())],
    ]
    for (const [name, value] of record.headers) headers.push([name, Buffer.from(value)])
    this.#folder.push({
      kind: 'output',
      output,
      key: record.key,
      record: { key: Buffer.from(record.key), value: Buffer.from(record.value), headers },
    })
  }

  send(key: string, event: JournalEvent): void {
    this.#folder.push({ kind: 'send', key, event, source: this.#nextSource() })
  }

  broadcast(event: JournalEvent): void {
    this.#folder.push({ kind: 'send', key: null, event, source: this.#nextSource() })
  }

  deadLetter(problem: DeadLetterProblem): void {
    this.#folder.push({ kind: 'deadLetter', problem, position: problem.position ?? this.position })
  }

  arm(dueMs: number, id: string): void {
    this.#folder.arm(dueMs, id)
  }

  disarm(dueMs: number, id: string): void {
    this.#folder.disarm(dueMs, id)
  }

  answer(value: unknown): void {
    const entry = this.#entry
    if (entry?.kind !== 'event' || entry.commandId === undefined) return
    this.#folder.answer(entry.commandId, value, this.position.offset)
  }

  request(effect: EffectRequest): void {
    this.#folder.request(effect)
  }

  withdraw(effectId: string): void {
    this.#folder.settle(effectId)
  }

  count(counter: string, label = ''): void {
    this.#counts.push([counter, label])
  }

  /** What a fold sends on is known by its place: a repeat of this fold sends the same again, and it is dropped there. */
  #nextSource(): SourcePosition {
    const { journal, partition } = this.#options
    // The index orders what several events of one record, each with several outputs, send on.
    const index = this.position.index * 4096 + this.#outputs++
    return { source: `journal/${journal}/${partition}`, offset: this.position.offset, index }
  }
}

/** A resident table's rows in key order. */
export function residentRows(state: TableState): [key: string, row: unknown][] {
  return [...(state.resident ?? [])].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}
