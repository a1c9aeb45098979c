import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type { Log, NewRecord, TopicPartition, TransactionalWriter } from '../log/log.js'
import { retrying } from '../retry.js'
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
  readonly writer: TransactionalWriter
  readonly changelog: TopicPartition
  /** Where to look in it for what this owner has sent. */
  readonly changelogFrom: number
  /** As an earlier owner left it. */
  readonly position: OutputPosition
  /** Aborted: nothing more is sent, and what waits is rejected. */
  readonly signal: AbortSignal
  /** Aborted: an append that fails is not tried again. */
  readonly giveUp: AbortSignal
  readonly onRetry: (error: Error) => void
  readonly encode: (made: Output) => NewRecord
  /** Resolves when there is time to send. */
  readonly giveWay: () => Promise<void>
  /** Does a piece of work when its turn has come. */
  readonly inTurn: <Result>(work: () => Result) => Promise<Result>
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

/** Records of one transaction, beyond which the next journal record's wait. */
const MAX_RECORDS = 1000
const RETRY_MS = 200

/**
 * Sends outputs declared `once`: with them, in one transaction, goes the position up to which they are out. A new owner
 * drops what it folds again up to there, so readers of committed records see each once, over any restarts.
 */
export class OnceOutputs {
  readonly #options: OnceOutputsOptions
  #waiting: Waiting[] = []
  #foldedUpTo = 0
  #isSending = false
  /** Why nothing is sent any more. */
  #ended: Error | undefined
  #outUpTo: number
  #changelogFrom: number

  constructor(options: OnceOutputsOptions) {
    this.#options = options
    this.#outUpTo = options.position.offset
    this.#changelogFrom = options.changelogFrom
    options.signal.addEventListener('abort', () => this.#end(ensureError(options.signal.reason)))
  }

  /** Outputs of journal records before this offset are out, as far as is known. */
  get outUpTo(): number {
    return this.#outUpTo
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
    if (!this.#isSending) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    await this.#options.giveWay()
    for (let portion = this.#take(); portion.length > 0; portion = this.#take()) {
      try {
        await this.#options.inTurn(() => this.#send(portion))
        for (const { group } of portion) if (--group.left === 0) group.resolve()
      } catch (thrown) {
        for (const { group } of portion) group.reject(ensureError(thrown))
        this.#end(ensureError(thrown))
      }
    }
    this.#isSending = false
  }

  /** Nothing more is sent: a later portion would tell that what was given up before it is out. */
  #end(error: Error): void {
    this.#ended ??= error
    for (const { group } of this.#waiting.splice(0)) group.reject(error)
  }

  /** Outputs of whole journal records. */
  #take(): Waiting[] {
    let count = 0
    while (count < this.#waiting.length) {
      const { offset } = (this.#waiting[count] as Waiting).output.made.position
      if (offset >= this.#foldedUpTo) break
      if (count >= MAX_RECORDS && offset !== this.#waiting[count - 1]?.output.made.position.offset) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  async #send(portion: readonly Waiting[]): Promise<void> {
    const { clock, writer, changelog, position, signal, giveUp, onRetry, encode } = this.#options
    const parts = new Map<string, TopicPartition & { records: NewRecord[] }>()
    for (const { output } of portion) {
      const { topic, partition, made } = output
      const record = encode(made)
      const name = `${topic}/${partition}`
      const part = parts.get(name)
      if (part === undefined) parts.set(name, { topic, partition, records: [record] })
      else part.records.push(record)
    }
    const out: OutputPosition = { ...position, offset: (portion.at(-1)?.output.made.position.offset ?? 0) + 1 }
    const told = { key: Buffer.from(ONCE_OUTPUTS), value: Buffer.from(JSON.stringify(out)) }
    let isInDoubt = false
    await retrying({ clock, delayMs: RETRY_MS, signal: giveUp, onRetry }, async () => {
      signal.throwIfAborted()
      if (isInDoubt && (await this.#isOut(out))) return
      isInDoubt = true
      const appended = await writer.append([...parts.values(), { ...changelog, records: [told] }])
      this.#changelogFrom = (appended.at(-1)?.baseOffset ?? 0) + 1
    })
    this.#outUpTo = Math.max(this.#outUpTo, out.offset)
  }

  /** A transaction whose end was not answered may be committed: once the writer is sound again the changelog tells. */
  async #isOut(out: OutputPosition): Promise<boolean> {
    const { log, writer, changelog, position } = this.#options
    await writer.append([])
    const found = await findOutputPosition(log, changelog, this.#changelogFrom, position)
    return found.offset >= out.offset
  }
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
