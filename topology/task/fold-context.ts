import { EngineError } from '../errors.js'
import { MAX_RECORD_BYTES } from '../ingest/record-bytes.js'
import type { JournalEntry } from '../journal/entry.js'
import type {
  Compared,
  DeadLetterProblem,
  EffectRequest,
  EventPosition,
  FoldContext,
  IndexEntry,
  JournalEvent,
  OutputRecord,
  OutputTopic,
  SourcePosition,
  Table,
} from '../processor.js'
import type { Folder, FolderOptions } from './folder.js'
import { outputBytes } from './output-record.js'
import { residentRows } from './row-store.js'

/** The one context of a folder, reused for every event. */
export class Context implements FoldContext {
  readonly #folder: Folder
  readonly #options: FolderOptions
  /** Counter and label by turns. */
  readonly #counts: string[] = []
  #entry: JournalEntry | undefined
  #outputs = 0
  #sends = 0
  #requests = 0
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
    this.#sends = 0
    this.#requests = 0
    this.position = position
    this.source = entry.source
    this.scanned = scanned
  }

  drop(): void {
    this.#counts.length = 0
  }

  reportCounts(): void {
    const counts = this.#counts
    for (let i = 0; i < counts.length; i += 2) this.#options.onCount(counts[i] ?? '', counts[i + 1] ?? '')
    counts.length = 0
  }

  get time(): number {
    return this.#folder.state.time
  }

  get epoch(): number {
    return this.#folder.state.epoch
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

  emit(output: OutputTopic, record: OutputRecord, acknowledged?: JournalEvent): void {
    checkSize(outputBytes(record), output.topic)
    const { position, time } = this
    const made = { kind: 'output' as const, output, record, position, index: this.#outputs++, time }
    this.#folder.push(acknowledged === undefined ? made : { ...made, acknowledged })
  }

  send(key: string, event: JournalEvent): void {
    this.#send(key, event)
  }

  broadcast(event: JournalEvent): void {
    this.#send(null, event)
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
    const { offset, index } = this.position
    this.#folder.request(effect, [offset, index, this.#requests++])
  }

  withdraw(effectId: string): void {
    this.#folder.settle(effectId)
  }

  askIntake(): void {
    this.#folder.push({ kind: 'intakeAsked', asOf: this.time })
  }

  count(counter: string, label = ''): void {
    this.#counts.push(counter, label)
  }

  because(rule: string, compared: Compared = {}): void {
    this.#folder.because(rule, compared)
  }

  /** What a fold sends on is known by its place: a repeat of this fold sends the same again, and it is dropped there. */
  #send(key: string | null, event: JournalEvent): void {
    const { journal, partition, codec } = this.#options
    const index = this.position.index * MAX_SENDS + this.#sends++
    const source = { source: `journal/${journal}/${partition}`, offset: this.position.offset, index }
    // Encoded here already, so that an event which does not fit its schema fails the one that made it.
    checkSize(codec.encode([{ kind: 'event', source, event }]).length, journal)
    this.#folder.push({ kind: 'send', key, event, source })
  }
}

/** Orders what several events of one journal record send on; the product with the entries of a block fits an Avro int. */
const MAX_SENDS = 1_000_000

function checkSize(bytes: number, topic: string): void {
  if (bytes <= MAX_RECORD_BYTES) return
  throw new EngineError('OUTPUT_TOO_LARGE', `a record of ${bytes} bytes to ${topic} is larger than ${MAX_RECORD_BYTES}`)
}
