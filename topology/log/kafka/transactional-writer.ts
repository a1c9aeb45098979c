import type { Clock } from '../../../common/clock.js'
import { sleep } from '../../../common/clock.js'
import { cut } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import type { Appended, NewRecord, TopicPartition, TransactionalWriter } from '../log.js'
import { recordTooLarge } from './append-lane.js'
import type { Broker, Connection } from './connection.js'
import { BrokerError, checkCode, typeOf } from './protocol/broker-error.js'
import { encodeBatch, highestTimestamp, recordBytes } from './protocol/record-batch.js'
import type { ProduceData, Produced, ProducerIdentity, Request } from './protocol/requests.js'
import { addPartitionsRequest, commitRequest, initProducerIdRequest, produceRequest } from './protocol/requests.js'
import { isRetriable, isStale, pauseMs, retrying, unavailable } from './retry.js'
import type { TopicDirectory } from './topic-directory.js'

const fencedTypes = new Set(['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_PRODUCER_ID_MAPPING'])
const batchOverheadBytes = 61

type Part = TopicPartition & { readonly records: readonly NewRecord[] }

export interface WriterContext {
  readonly connection: Connection
  readonly directory: TopicDirectory
  readonly clock: Clock
  readonly timeoutMs: number
  readonly transactionTimeoutMs: number
  readonly maxRecordBytes: number
  /** Errors: LOG_CLOSED. */
  checkOpen(): void
}

/**
 * One transaction an append, which readers see some milliseconds after it has resolved: the coordinator answers before the
 * partitions are told. The identity that the coordinator gave is given up after the first thing that failed: its
 * sequence numbers are then not known to be right. A new one is asked for with the old one in hand, so that a writer who
 * was fenced meanwhile learns it, instead of fencing the one who came after.
 */
export class KafkaWriter implements TransactionalWriter {
  readonly #id: string
  readonly #context: WriterContext
  readonly #sequences = new Map<string, number>()
  #identity: ProducerIdentity
  #isSound = true
  #isFenced = false
  #isClosed = false
  #last: Promise<unknown> = Promise.resolve()

  private constructor(id: string, context: WriterContext, identity: ProducerIdentity) {
    this.#id = id
    this.#context = context
    this.#identity = identity
  }

  /** Resolves when the former writer is fenced, and what it left open is ended and marked so in every partition. */
  static async open(id: string, context: WriterContext): Promise<KafkaWriter> {
    return new KafkaWriter(id, context, await identify(id, context))
  }

  append(parts: readonly Part[]): Promise<readonly Appended[]> {
    const appended = this.#last.then(() => this.#append(parts))
    this.#last = appended.catch(() => undefined)
    return appended
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#last
  }

  async #append(parts: readonly Part[]): Promise<readonly Appended[]> {
    this.#context.checkOpen()
    if (this.#isClosed) throw new LogError('LOG_CLOSED', 'this writer is closed')
    for (const part of parts) await this.#check(part)
    if (this.#isFenced) throw fenced(this.#id)
    try {
      await this.#recover()
      return await this.#transact(parts)
    } catch (error) {
      this.#isSound = false
      this.#isFenced ||= fencedTypes.has(typeOf(error))
      throw this.#isFenced ? fenced(this.#id, error) : unavailable(error)
    }
  }

  /** Errors: TOPIC_UNKNOWN, PARTITION_UNKNOWN, RECORD_TOO_LARGE. */
  async #check(part: Part): Promise<void> {
    const { directory, maxRecordBytes } = this.#context
    await directory.checkPartition(part)
    const bound = Math.min((await directory.maxMessageBytes(part.topic)) - batchOverheadBytes, maxRecordBytes)
    const large = part.records.map(recordBytes).find((bytes) => bytes > bound)
    if (large !== undefined) throw recordTooLarge(part, large, bound)
  }

  async #recover(): Promise<void> {
    if (this.#isSound) return
    this.#identity = await identify(this.#id, this.#context, this.#identity)
    this.#sequences.clear()
    this.#isSound = true
  }

  async #transact(parts: readonly Part[]): Promise<readonly Appended[]> {
    const filled = parts.filter(({ records }) => records.length > 0)
    if (filled.length === 0) return parts.map(() => ({ baseOffset: -1, timestamp: -1 }))
    const nowMs = this.#context.clock.now()
    // Refused with CONCURRENT_TRANSACTIONS while the markers of the last transaction are still being written.
    await this.#coordinated(addPartitionsRequest(this.#id, this.#identity, filled))
    const rounds = await this.#batches(filled, nowMs)
    const appended = new Map<Part, Appended>()
    for (const round of rounds) {
      for (const [part, { baseOffset, logAppendTime }] of await this.#produce(round)) {
        const timestamp = logAppendTime >= 0 ? logAppendTime : highestTimestamp(part.records, nowMs)
        if (!appended.has(part)) appended.set(part, { baseOffset, timestamp })
      }
    }
    // May be asked again when its answer was lost: the coordinator then says the same.
    await this.#coordinated(commitRequest(this.#id, this.#identity))
    return parts.map((part) => appended.get(part) ?? { baseOffset: -1, timestamp: -1 })
  }

  /** Each part in batches that its topic takes; the batches of one round go to different partitions. */
  async #batches(parts: readonly Part[], nowMs: number): Promise<Map<Part, ProduceData>[]> {
    const rounds: Map<Part, ProduceData>[] = []
    const filledRounds = new Map<string, number>()
    for (const part of parts) {
      const { topic, partition } = part
      const limit = await this.#context.directory.maxMessageBytes(topic)
      const name = `${topic}/${partition}`
      for (const records of slices(part.records, limit)) {
        const sequence = this.#sequences.get(name) ?? 0
        this.#sequences.set(name, sequence + records.length)
        const at = filledRounds.get(name) ?? 0
        filledRounds.set(name, at + 1)
        const round = rounds[at] ?? new Map<Part, ProduceData>()
        rounds[at] = round.set(part, {
          topic,
          partition,
          batch: encodeBatch(records, nowMs, { ...this.#identity, sequence }),
        })
      }
    }
    return rounds
  }

  /** A leader that moved has written nothing, so its batch goes to the next one with the same sequence numbers. */
  async #produce(round: ReadonlyMap<Part, ProduceData>): Promise<Map<Part, Produced>> {
    const { clock, timeoutMs, directory } = this.#context
    const deadline = clock.monotonic() + timeoutMs
    const produced = new Map<Part, Produced>()
    for (let tries = 1; ; tries++) {
      const left = [...round].filter(([part]) => !produced.has(part))
      const errors = await this.#produceOnce(left, produced)
      const final = errors.find((error) => !isStale(error))
      const [error] = errors
      if (error === undefined) return produced
      if (final !== undefined || clock.monotonic() >= deadline) throw final ?? error
      for (const [{ topic }] of left) directory.forget(topic)
      await sleep(clock, pauseMs(tries))
    }
  }

  /** What the brokers refused; what they took goes into `produced`. Rejects when it is not known. */
  async #produceOnce(
    entries: readonly (readonly [Part, ProduceData])[],
    produced: Map<Part, Produced>,
  ): Promise<Error[]> {
    const { connection, directory, timeoutMs } = this.#context
    const byLeader = new Map<number, (readonly [Part, ProduceData])[]>()
    for (const entry of entries) {
      const leader = await directory.leader(entry[0])
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), entry])
    }
    const errors: Error[] = []
    await Promise.all(
      [...byLeader].map(async ([leader, toLeader]) => {
        const batches = toLeader.map(([, data]) => data)
        const answers = await connection.send(leader, produceRequest(batches, timeoutMs, this.#id))
        for (const [part, { topic, partition }] of toLeader) {
          const answer = answers.find((each) => each.topic === topic && each.partition === partition)
          if (answer?.errorCode === 0) produced.set(part, answer)
          else errors.push(new BrokerError(answer?.errorCode ?? -1))
        }
      }),
    )
    return errors
  }

  async #coordinated(request: Request<number>): Promise<void> {
    const { connection } = this.#context
    await atCoordinator(this.#id, this.#context, async (coordinator) => {
      checkCode(await connection.sendTo(coordinator, request))
    })
  }
}

async function identify(id: string, context: WriterContext, held?: ProducerIdentity): Promise<ProducerIdentity> {
  const request = initProducerIdRequest(id, context.transactionTimeoutMs, held)
  return atCoordinator(id, context, async (coordinator) => {
    const { errorCode, ...identity } = await context.connection.sendTo(coordinator, request)
    checkCode(errorCode)
    return identity
  })
}

async function atCoordinator<T>(id: string, context: WriterContext, ask: (broker: Broker) => Promise<T>): Promise<T> {
  const { connection, clock, timeoutMs } = context
  const deadline = clock.monotonic() + timeoutMs
  for (let tries = 1; ; tries++) {
    try {
      return await retrying({ clock, timeoutMs }, () => connection.atCoordinator('transaction', id, ask))
    } catch (error) {
      const isBusy = typeOf(error) === 'CONCURRENT_TRANSACTIONS'
      if (!isBusy || clock.monotonic() >= deadline) throw isRetriable(error) ? unavailable(error) : error
      await sleep(clock, Math.min(pauseMs(tries) / 10, 20))
    }
  }
}

function slices(records: readonly NewRecord[], limit: number): NewRecord[][] {
  const found: NewRecord[][] = []
  let slice: NewRecord[] | undefined
  let bytes = 0
  for (const record of records) {
    bytes += recordBytes(record)
    if (slice === undefined || bytes + batchOverheadBytes > limit || slice.length >= 10_000) {
      found.push((slice = []))
      bytes = recordBytes(record)
    }
    slice.push(record)
  }
  return found
}

function fenced(id: string, cause: unknown = new BrokerError(90)): LogError {
  const message = `another writer of ${cut(id)} was opened meanwhile`
  return new LogError('WRITER_FENCED', message, { details: { transactionalId: cut(id) }, cause })
}
