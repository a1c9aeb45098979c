import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import { LogError } from '../log/errors.js'
import type { Appended, Log, NewRecord, TopicPartition, TransactionalWriter } from '../log/log.js'
import { isWorthRetry, retrying } from '../retry.js'

/** Outputs of whole journal records of one task, and the record of its changelog that tells up to where they are out. */
export interface OncePortion {
  readonly outputs: readonly (TopicPartition & { readonly record: NewRecord })[]
  readonly told: TopicPartition & { readonly record: NewRecord }
}

/** A task whose outputs go along. */
export interface OnceRider {
  /** Aborted: what fails is not tried again. */
  readonly giveUp: AbortSignal
  /** Makes known to the task's next owner by which writer its outputs go. Errors: WRITER_FENCED when it has one. */
  announce(id: string): Promise<void>
  /** What waits to be sent; undefined: nothing. */
  take(): OncePortion | undefined
  /** What was taken is out, its changelog record at this offset. */
  sent(offset: number): void
  /** It is not known whether what was taken is out: the next announcement finds it out. */
  lost(error: Error): void
  /** Nothing of it is sent any more. */
  end(error: Error): void
}

export interface OnceWriterOptions {
  readonly clock: Clock
  readonly log: Pick<Log, 'writer'>
  /** Of the writer; of this process start alone. */
  readonly id: string
  /** Resolves when there is time to send. */
  readonly giveWay: () => Promise<void>
  /** Does a piece of work when its turn has come. */
  readonly inTurn: <Result>(work: () => Result) => Promise<Result>
  /** Behind a transaction of few outputs the next one waits so long for company; 0: not at all. */
  readonly lingerMs: number
  readonly onRetry: (error: Error) => void
}

interface Loaded {
  readonly rider: OnceRider
  readonly portion: OncePortion
}

/** Records of one transaction, beyond which the next task's wait. */
const MAX_RECORDS = 5000
const RETRY_MS = 200
const FEW_RECORDS = 100

/**
 * Sends the outputs declared `once` of all tasks of an instance, in one transaction after the other: what one costs the brokers
 * does not grow with the tasks. A task goes along when it has announced the writer that is open now; when that turns out to be
 * fenced, or what it sent is in doubt, another one is opened, which ends what was under way, and all announce themselves anew.
 */
export class OnceWriter {
  readonly #options: OnceWriterOptions
  #opening: Promise<TransactionalWriter> | undefined
  #open: TransactionalWriter | undefined
  /** With which writer each may go along. */
  readonly #announced = new WeakMap<OnceRider, TransactionalWriter>()
  readonly #preparing = new Set<OnceRider>()
  #waiting = new Set<OnceRider>()
  #isRunning = false

  constructor(options: OnceWriterOptions) {
    this.#options = options
  }

  /** The rider has something to send. */
  ride(rider: OnceRider): void {
    if (this.#open !== undefined && this.#announced.get(rider) === this.#open) {
      this.#waiting.add(rider)
      if (!this.#isRunning) void this.#run()
    } else if (!this.#preparing.has(rider)) {
      void this.#prepare(rider)
    }
  }

  async #prepare(rider: OnceRider): Promise<void> {
    const { clock, id, onRetry } = this.#options
    this.#preparing.add(rider)
    try {
      await retrying({ clock, delayMs: RETRY_MS, signal: rider.giveUp, onRetry }, async () => {
        const writer = await this.#opened()
        await rider.announce(id)
        this.#announced.set(rider, writer)
      })
    } catch (thrown) {
      rider.end(ensureError(thrown))
      return
    } finally {
      this.#preparing.delete(rider)
    }
    this.ride(rider)
  }

  async #opened(): Promise<TransactionalWriter> {
    this.#opening ??= this.#options.log.writer(this.#options.id)
    const opening = this.#opening
    try {
      const writer = await opening
      if (this.#opening === opening) this.#open = writer
      return writer
    } catch (thrown) {
      if (this.#opening === opening) this.#opening = undefined
      throw thrown
    }
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#open !== undefined && this.#waiting.size > 0) {
      const { clock, lingerMs, giveWay } = this.#options
      await giveWay()
      const loaded = await this.#load()
      await this.#send(this.#open, loaded)
      if (lingerMs > 0 && countOf(loaded) < FEW_RECORDS) await sleep(clock, lingerMs)
    }
    this.#isRunning = false
  }

  /** One portion of each: what has more to send, or gets it meanwhile, comes again behind the others. */
  async #load(): Promise<readonly Loaded[]> {
    const loaded: Loaded[] = []
    let count = 0
    for (const rider of [...this.#waiting]) {
      if (count >= MAX_RECORDS) break
      this.#waiting.delete(rider)
      const portion = await this.#options.inTurn(() => rider.take())
      if (portion === undefined) continue
      loaded.push({ rider, portion })
      count += portion.outputs.length
    }
    return loaded
  }

  async #send(writer: TransactionalWriter, loaded: readonly Loaded[]): Promise<void> {
    if (loaded.length === 0) return
    try {
      const { parts, toldIn } = partsOf(loaded)
      const appended = await writer.append(parts)
      for (const [at, { rider }] of loaded.entries())
        rider.sent((appended[toldIn[at] as number] as Appended).baseOffset)
    } catch (thrown) {
      const error = ensureError(thrown)
      const isFenced = error instanceof LogError && error.code === 'WRITER_FENCED'
      if (isFenced || isWorthRetry(error) || writer !== this.#open) this.#lost(loaded, error)
      else if (loaded.length > 1) for (const one of loaded) await this.#send(writer, [one])
      else loaded[0]?.rider.end(error)
    }
  }

  #lost(loaded: readonly Loaded[], error: Error): void {
    this.#options.onRetry(error)
    this.#open = this.#opening = undefined
    const waiting = [...this.#waiting]
    this.#waiting = new Set()
    for (const { rider } of loaded) rider.lost(error)
    for (const rider of [...loaded.map(({ rider }) => rider), ...waiting]) this.ride(rider)
  }
}

function countOf(loaded: readonly Loaded[]): number {
  return loaded.reduce((sum, { portion }) => sum + portion.outputs.length, 0)
}

/** Each partition once, and for each portion in which part its changelog record goes. */
function partsOf(loaded: readonly Loaded[]): {
  readonly parts: readonly (TopicPartition & { readonly records: readonly NewRecord[] })[]
  readonly toldIn: readonly number[]
} {
  const parts: (TopicPartition & { readonly records: NewRecord[] })[] = []
  const places = new Map<string, number>()
  const add = ({ topic, partition, record }: TopicPartition & { readonly record: NewRecord }): number => {
    const name = `${topic}/${partition}`
    const place = places.get(name)
    if (place === undefined) places.set(name, parts.push({ topic, partition, records: [record] }) - 1)
    else parts[place]?.records.push(record)
    return place ?? parts.length - 1
  }
  for (const { portion } of loaded) for (const output of portion.outputs) add(output)
  return { parts, toldIn: loaded.map(({ portion }) => add(portion.told)) }
}
