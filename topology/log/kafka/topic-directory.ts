import type { Clock } from '../../../common/clock.js'
import { sleep } from '../../../common/clock.js'
import { cut, ensureError } from '../../../common/errors.js'
import { LogError } from '../errors.js'
import type { TopicPartition, TopicSpec } from '../log.js'
import type { Connection } from './connection.js'
import { BrokerError, typeOf } from './protocol/broker-error.js'
import type { TopicMetadata } from './protocol/requests.js'
import { metadataRequest } from './protocol/requests.js'
import { pauseMs, retrying, unavailable } from './retry.js'
import { checkTopic, settingsOf } from './topic-settings.js'

const unknownTopicCodes = new Set([3, 17])
const leaderNotAvailable = 5
const topicResource = 2
const byBrokerDefault = -1
const creationTimeoutMs = 10_000
const metadataMaxAgeMs = 60_000

interface CachedTopic extends TopicMetadata {
  readonly readAt: number
}

/** Which topics there are, who leads their partitions, and how they are set. */
export class TopicDirectory {
  readonly #connection: Connection
  readonly #clock: Clock
  readonly #timeoutMs: number
  readonly #topics = new Map<string, CachedTopic>()
  readonly #reading = new Map<string, Promise<CachedTopic | undefined>>()
  readonly #limits = new Map<string, Promise<number>>()

  constructor(connection: Connection, clock: Clock, timeoutMs: number) {
    this.#connection = connection
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  /** As the brokers know it now. */
  read(name: string): Promise<TopicMetadata | undefined> {
    let reading = this.#reading.get(name)
    if (reading === undefined) {
      reading = this.#fetch([name])
        .then(([topic]) => topic)
        .finally(() => this.#reading.delete(name))
      this.#reading.set(name, reading)
    }
    return reading
  }

  readAll(): Promise<readonly TopicMetadata[]> {
    return this.#fetch('all')
  }

  /** As known for at most a minute. Errors: TOPIC_UNKNOWN. */
  async get(name: string): Promise<TopicMetadata> {
    const known = this.#topics.get(name)
    if (known !== undefined && this.#clock.monotonic() - known.readAt < metadataMaxAgeMs) return known
    const read = await this.read(name)
    if (read === undefined)
      throw new LogError('TOPIC_UNKNOWN', `no topic ${cut(name)}`, { details: { topic: cut(name) } })
    return read
  }

  /** The node that leads the partition. Errors: TOPIC_UNKNOWN, PARTITION_UNKNOWN. */
  async leader(at: TopicPartition): Promise<number> {
    const leader = await this.checkPartition(at)
    if (leader >= 0) return leader
    this.forget(at.topic)
    throw new BrokerError(leaderNotAvailable)
  }

  /** The node that led the partition when last asked; -1: none. Errors: TOPIC_UNKNOWN, PARTITION_UNKNOWN. */
  async checkPartition({ topic, partition }: TopicPartition): Promise<number> {
    let known = await this.get(topic)
    // It may have grown.
    if (known.leaders[partition] === undefined) known = (await this.read(topic)) ?? known
    const leader = known.leaders[partition]
    if (leader !== undefined) return leader
    const partitions = known.leaders.length
    const message = `topic ${cut(topic)} has ${partitions} partitions, no ${cut(partition)}`
    throw new LogError('PARTITION_UNKNOWN', message, { details: { topic, partition, partitions } })
  }

  /** What is known of the topic is not right any more. */
  forget(name: string): void {
    this.#topics.delete(name)
  }

  /** The bound of a batch, in bytes. */
  async maxMessageBytes(name: string): Promise<number> {
    const { id } = await this.get(name)
    let limit = this.#limits.get(id)
    if (limit === undefined) {
      limit = this.#settings(name, ['max.message.bytes']).then((found) => Number(found.get('max.message.bytes')))
      this.#limits.set(id, limit)
      limit.catch(() => this.#limits.delete(id))
    }
    return limit
  }

  /** Creates what is missing and checks what is there. Errors: TOPIC_MISMATCH. */
  async create(specs: readonly TopicSpec[]): Promise<void> {
    for (const { name, partitions } of specs) {
      if (Number.isInteger(partitions) && partitions >= 1) continue
      throw new RangeError(`topic ${cut(name)} needs a whole number of partitions from 1 on, not ${cut(partitions)}`)
    }
    const missing: TopicSpec[] = []
    for (const spec of specs) {
      const topic = await this.read(spec.name)
      if (topic === undefined) missing.push(spec)
      else checkTopic(spec, topic.leaders.length, await this.#settings(spec.name, Object.keys(settingsOf(spec))))
    }
    if (missing.length === 0) return
    await this.#createNow(missing)
    for (const spec of missing) await this.#untilLed(spec)
  }

  async #createNow(specs: readonly TopicSpec[]): Promise<void> {
    const topics = specs.map((spec) => ({
      topic: spec.name,
      numPartitions: spec.partitions,
      replicationFactor: byBrokerDefault,
      configEntries: Object.entries(settingsOf(spec)).map(([name, value]) => ({ name, value })),
    }))
    await this.#retrying(async () => {
      const controller = await this.#connection.controller()
      try {
        await controller.createTopics({ topics, timeout: creationTimeoutMs })
      } catch (error) {
        throwUnlessExisting(error)
      }
    })
  }

  /** Brokers learn of a new topic a little later than the one who made it. */
  async #untilLed(spec: TopicSpec): Promise<void> {
    const deadline = this.#clock.monotonic() + this.#timeoutMs
    for (let tries = 1; ; tries++) {
      const topic = await this.read(spec.name)
      const led = topic?.leaders.filter((leader) => leader >= 0).length ?? 0
      if (led === spec.partitions) return
      if (topic !== undefined && topic.leaders.length !== spec.partitions) {
        checkTopic(spec, topic.leaders.length, await this.#settings(spec.name, Object.keys(settingsOf(spec))))
      }
      if (this.#clock.monotonic() >= deadline) throw unavailable(new BrokerError(leaderNotAvailable))
      await sleep(this.#clock, pauseMs(tries))
    }
  }

  #settings(name: string, configNames: readonly string[]): Promise<Map<string, string>> {
    return this.#retrying(async () => {
      const controller = await this.#connection.controller()
      const { resources } = await controller.describeConfigs({
        resources: [{ type: topicResource, name, configNames }],
      })
      const entries = resources[0]?.configEntries ?? []
      return new Map(entries.map(({ configName, configValue }) => [configName, configValue]))
    })
  }

  async #fetch(topics: readonly string[] | 'all'): Promise<CachedTopic[]> {
    const answered = await this.#retrying(async () => {
      return this.#connection.sendTo(await this.#connection.controller(), metadataRequest(topics))
    })
    const readAt = this.#clock.monotonic()
    const found: CachedTopic[] = []
    for (const topic of answered) {
      if (unknownTopicCodes.has(topic.errorCode)) this.#topics.delete(topic.name)
      else if (topic.errorCode === 0 || topic.errorCode === leaderNotAvailable) found.push({ ...topic, readAt })
      else throw new BrokerError(topic.errorCode)
    }
    for (const topic of found) this.#topics.set(topic.name, topic)
    return found
  }

  #retrying<T>(attempt: () => Promise<T>): Promise<T> {
    return retrying({ clock: this.#clock, timeoutMs: this.#timeoutMs }, attempt)
  }
}

/** kafkajs tells several errors at once, one a topic. */
function throwUnlessExisting(error: unknown): void {
  const errors: unknown[] =
    error instanceof Error && 'errors' in error && Array.isArray(error.errors) ? error.errors : [error]
  const other = errors.find((each) => typeOf(each) !== 'TOPIC_ALREADY_EXISTS')
  if (other !== undefined) throw ensureError(other)
}
