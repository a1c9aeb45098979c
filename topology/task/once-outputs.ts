import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { Log, NewRecord, TopicPartition, TransactionalWriter } from '../log/log.js'
import type { OncePortion, OnceRider, OnceWriter } from './once-writer.js'
import type { Output } from './output-record.js'
import { ONCE_OUTPUTS } from './table-runtime.js'

/** How far outputs declared `once` are out: those of journal records before `offset`. Kept in the changelog. */
export interface OutputPosition {
  readonly offset: number
  /** Of the journal topic. */
  readonly incarnation: string
}

export interface OnceOutputsOptions {
  readonly clock: Clock
  readonly log: Pick<Log, 'offsets' | 'read'>
  /** The task's own, which nobody else has as long as it is the owner. */
  readonly writer: TransactionalWriter
  /** Of the instance: the outputs go by it. */
  readonly onceWriter: Pick<OnceWriter, 'ride'>
  /** Keeps its id for the task's next owner; empty: nothing goes by it any more. */
  readonly keepOnceWriter: (id: string) => Promise<void>
  readonly changelog: TopicPartition
  /** Where to look in it for what this owner has sent. */
  readonly changelogFrom: number
  /** As an earlier owner left it. */
  readonly position: OutputPosition
  /** Aborted: nothing more is sent, and what waits is rejected. */
  readonly signal: AbortSignal
  /** Aborted: what fails is not tried again. */
  readonly giveUp: AbortSignal
  readonly encode: (made: Output) => NewRecord
}

export interface OnceOutput extends TopicPartition {
  readonly made: Output
}

/** Outputs that were given together. */
interface Group {
  left: number
  resolve(): void
  reject(error: Error): void
}

interface Waiting {
  readonly output: OnceOutput
  readonly group: Group
}

/** Records of one portion, beyond which the next journal record's wait. */
const MAX_RECORDS = 1000
const LOOK_MS = 10

/**
 * Sends outputs declared `once` of one task: with them, in one transaction, goes the position up to which they are out. A new
 * owner drops what it folds again up to there, so readers of committed records see each once, over any restarts. The
 * transactions are by a writer that all tasks of an instance share, so a new owner has two to fence: the task's own, and then
 * the one that the former owner has announced before it sent anything by it, which only that task's owner can do.
 */
export class OnceOutputs implements OnceRider {
  readonly #options: OnceOutputsOptions
  #waiting: Waiting[] = []
  /** Under way, or in doubt. */
  #taken: readonly Waiting[] = []
  #isInDoubt = false
  #foldedUpTo = 0
  #isAnnounced = false
  /** Why nothing is sent any more. */
  #ended: Error | undefined
  #outUpTo: number
  #changelogFrom: number

  constructor(options: OnceOutputsOptions) {
    this.#options = options
    this.#outUpTo = options.position.offset
    this.#changelogFrom = options.changelogFrom
    options.signal.addEventListener('abort', () => this.end(ensureError(options.signal.reason)))
  }

  /** Outputs of journal records before this offset are out, as far as is known. */
  get outUpTo(): number {
    return this.#outUpTo
  }

  get giveUp(): AbortSignal {
    return this.#options.giveUp
  }

  /** Resolves when all are out, at once when they were out before. Each is sent when its journal record is folded whole. */
  send(outputs: readonly OnceOutput[]): Promise<void> {
    const { offset } = this.#options.position
    const unsent = outputs.filter(({ made }) => made.position.offset >= offset)
    if (unsent.length === 0) return Promise.resolve()
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    return new Promise((resolve, reject) => {
      const group = { left: unsent.length, resolve, reject }
      for (const output of unsent) this.#waiting.push({ output, group })
    })
  }

  /** All journal records before `offset` are folded whole. */
  recordsFolded(offset: number): void {
    this.#foldedUpTo = offset
    this.#rideOn()
  }

  /** When all is out, and the task goes elsewhere: its next owner has one writer less to fence. */
  async release(): Promise<void> {
    const isIdle = this.#waiting.length === 0 && this.#taken.length === 0 && this.#ended === undefined
    if (this.#isAnnounced && isIdle) await this.#options.keepOnceWriter('')
  }

  /** Errors: WRITER_FENCED. */
  async announce(id: string): Promise<void> {
    const { writer, keepOnceWriter, changelog } = this.#options
    if (this.#ended !== undefined) throw this.#ended
    this.#isAnnounced = true
    await keepOnceWriter(id)
    const [told] = await writer.append([{ ...changelog, records: [this.#told(this.#outUpTo)] }])
    const offset = told?.baseOffset ?? 0
    if (this.#isInDoubt) await this.#clearUp(offset)
    this.#changelogFrom = offset + 1
  }

  take(): OncePortion | undefined {
    const portion = this.#ended === undefined ? this.#waiting.splice(0, this.#countOfNext()) : []
    if (portion.length === 0) return undefined
    this.#taken = portion
    const { changelog, encode } = this.#options
    return {
      outputs: portion.map(({ output: { topic, partition, made } }) => ({ topic, partition, record: encode(made) })),
      told: { ...changelog, record: this.#told(behind(portion)) },
    }
  }

  sent(offset: number): void {
    this.#changelogFrom = offset + 1
    this.#settle()
  }

  lost(error: Error): void {
    this.#isInDoubt = true
    if (this.giveUp.aborted || this.#ended !== undefined) this.end(error)
  }

  /** Nothing more is sent: a later portion would tell that what was given up before it is out. */
  end(error: Error): void {
    this.#ended ??= error
    for (const { group } of [...this.#taken, ...this.#waiting]) group.reject(error)
    this.#waiting = []
  }

  #rideOn(): void {
    const [first] = this.#waiting
    if (first !== undefined && first.output.made.position.offset < this.#foldedUpTo) this.#options.onceWriter.ride(this)
  }

  #settle(): void {
    const portion = this.#taken
    this.#taken = []
    this.#outUpTo = Math.max(this.#outUpTo, behind(portion))
    for (const { group } of portion) if (--group.left === 0) group.resolve()
    this.#rideOn()
  }

  /**
   * A transaction that was not heard of has ended by now, as all others of the changelog that began before `offset` have when
   * readers see that.
   */
  async #clearUp(offset: number): Promise<void> {
    const { clock, log, changelog, position, signal } = this.#options
    while ((await log.offsets(changelog)).end <= offset) {
      await sleep(clock, LOOK_MS, signal)
      signal.throwIfAborted()
    }
    const found = await findOutputPosition(log, changelog, this.#changelogFrom, position)
    this.#isInDoubt = false
    if (found.offset >= behind(this.#taken)) {
      this.#settle()
    } else {
      this.#waiting = [...this.#taken, ...this.#waiting]
      this.#taken = []
    }
  }

  /** How many outputs of whole journal records go next. */
  #countOfNext(): number {
    let count = 0
    while (count < this.#waiting.length) {
      const { offset } = (this.#waiting[count] as Waiting).output.made.position
      if (offset >= this.#foldedUpTo) break
      if (count >= MAX_RECORDS && offset !== this.#waiting[count - 1]?.output.made.position.offset) break
      count++
    }
    return count
  }

  #told(offset: number): NewRecord {
    const position: OutputPosition = { ...this.#options.position, offset }
    return { key: Buffer.from(ONCE_OUTPUTS), value: Buffer.from(JSON.stringify(position)) }
  }
}

/** The position that a portion stands for. */
function behind(portion: readonly Waiting[]): number {
  return (portion.at(-1)?.output.made.position.offset ?? -1) + 1
}

/**
 * The newest output position in the changelog from `from` on; when there is none, or it is of another journal topic, the
 * given one. What stands before a commit's known end of the changelog is in that commit.
 */
export async function findOutputPosition(
  log: Pick<Log, 'offsets' | 'read'>,
  changelog: TopicPartition,
  from: number,
  otherwise: OutputPosition,
): Promise<OutputPosition> {
  const { start, end } = await log.offsets(changelog)
  let position = otherwise
  for (let offset = Math.max(from, start); offset < end;) {
    const { records, next } = await log.read(changelog, offset)
    for (const { key, value } of records) {
      if (value === null || key?.toString() !== ONCE_OUTPUTS) continue
      const found = JSON.parse(value.toString()) as OutputPosition
      if (found.incarnation === otherwise.incarnation && found.offset > position.offset) position = found
    }
    offset = next
  }
  return position
}
