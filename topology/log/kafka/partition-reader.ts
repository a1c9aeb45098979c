import type { Clock } from '../../../common/clock.js'
import { cut } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import type { ReadOptions, RecordBatch, TopicPartition } from '../log.js'
import type { Connection } from './connection.js'
import { OffsetQueue } from './offset-queue.js'
import { checkCode, typeOf } from './protocol/broker-error.js'
import { decodeBatches } from './protocol/record-batch.js'
import { fetchRequest } from './protocol/requests.js'
import { isRetriable, retrying, unavailable } from './retry.js'
import type { TopicDirectory } from './topic-directory.js'

const earliest = -2
const latest = -1
const none = -1
const defaultMaxBytes = 1024 * 1024
/** A foreign batch may hold any number; so many are too few to overflow a caller's stack. */
const defaultMaxRecords = 50_000

/** Asks for offsets and reads, without a group. Only committed records count: the end is where those end. */
export class PartitionReader {
  readonly #connection: Connection
  readonly #directory: TopicDirectory
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #queues = new Map<number, OffsetQueue>()

  constructor(connection: Connection, directory: TopicDirectory, clock: Clock, timeoutMs: number) {
    this.#connection = connection
    this.#directory = directory
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  async offsets(at: TopicPartition): Promise<{ readonly start: number; readonly end: number }> {
    const [start, end] = await Promise.all([this.#offset(at, earliest), this.#offset(at, latest)])
    return { start, end }
  }

  async offsetForTime(at: TopicPartition, timestampMs: number): Promise<number> {
    const offset = await this.#offset(at, Math.max(0, timestampMs))
    return offset === none ? this.#offset(at, latest) : offset
  }

  async read(at: TopicPartition, offset: number, options: ReadOptions = {}): Promise<RecordBatch> {
    const { topic, partition } = at
    const { maxBytes = defaultMaxBytes, maxRecords = defaultMaxRecords } = options
    await this.#directory.checkPartition(at)
    if (offset < 0) throw this.#outOfRange(at, offset)
    return this.#atLeader(at, async (leader) => {
      const { id: topicId } = await this.#directory.get(topic)
      const request = fetchRequest([{ topic, topicId, partition, offset, maxBytes }], { maxWaitMs: 0, maxBytes })
      const [fetched] = await this.#connection.send(leader, request)
      if (fetched === undefined) throw new LogError('LOG_UNAVAILABLE', `no answer for topic ${cut(topic)}`)
      try {
        checkCode(fetched.errorCode)
      } catch (error) {
        throw typeOf(error) === 'OFFSET_OUT_OF_RANGE' ? this.#outOfRange(at, offset) : error
      }
      const { records, next } = await decodeBatches(fetched.bytes, offset, fetched.aborted)
      const bounded = [...records.take(maxRecords, maxBytes).records]
      const cutAt = records.at(bounded.length)?.offset
      return { topic, partition, records: bounded, next: cutAt ?? next, end: fetched.lastStableOffset }
    })
  }

  #offset(at: TopicPartition, timestamp: number): Promise<number> {
    return this.#atLeader(at, (leader) => {
      let queue = this.#queues.get(leader)
      if (queue === undefined) this.#queues.set(leader, (queue = new OffsetQueue(this.#connection, leader)))
      return queue.ask(at, timestamp)
    })
  }

  async #atLeader<T>(at: TopicPartition, ask: (leader: number) => Promise<T>): Promise<T> {
    const onRetry = (): void => this.#directory.forget(at.topic)
    try {
      return await retrying({ clock: this.#clock, timeoutMs: this.#timeoutMs, onRetry }, async () => {
        return ask(await this.#directory.leader(at))
      })
    } catch (error) {
      throw isRetriable(error) ? unavailable(error) : error
    }
  }

  #outOfRange({ topic, partition }: TopicPartition, offset: number): LogError {
    const message = `offset ${offset} is not in partition ${partition} of topic ${cut(topic)}`
    return new LogError('OFFSET_OUT_OF_RANGE', message, { details: { topic, partition, offset } })
  }
}
