import type { Clock } from '../../../common/clock.js'
import { LogError } from '../errors.js'
import type {
  Appended,
  GroupMember,
  GroupOptions,
  GroupPosition,
  Log,
  NewRecord,
  ReadOptions,
  RecordBatch,
  TopicDescription,
  TopicPartition,
  TopicSpec,
  TransactionalWriter,
} from '../log.js'
import { AppendLane } from './append-lane.js'
import type { ConnectionOptions } from './connection.js'
import { Connection } from './connection.js'
import { KafkaGroupMember } from './group/member.js'
import { committedBy } from './group/positions.js'
import { PartitionReader } from './partition-reader.js'
import { ProduceQueue } from './produce-queue.js'
import { accessDenied, isDenied } from './retry.js'
import type { TopicMetadata } from './protocol/requests.js'
import { TopicDirectory } from './topic-directory.js'
import { KafkaWriter } from './transactional-writer.js'
import { Watchdog } from './watchdog.js'

export interface KafkaLogOptions extends Omit<ConnectionOptions, 'requestTimeoutMs'> {
  readonly clock: Clock
  /** What no repeat will change: a partition that cannot be read, access that is denied. The process should end. */
  readonly onFatal: (error: Error) => void
  /** How long a broker may take to answer; default 30 s. */
  readonly requestTimeoutMs?: number
  /** How long a call is tried while brokers are away or move; default 30 s. */
  readonly timeoutMs?: number
  /** A member that is not heard of for so long loses its partitions; default 6 s, the broker's usual lower bound. */
  readonly sessionTimeoutMs?: number
  /** How long a group waits for its members to join again; default 60 s. */
  readonly rebalanceTimeoutMs?: number
  /** A join, heartbeat or fetch that neither ends nor fails for so long is fatal: CLIENT_STALLED. Default 5 min. */
  readonly stallTimeoutMs?: number
  /** A transaction that is open for so long is ended by the broker; default 30 s. */
  readonly transactionTimeoutMs?: number
  /** Bound of one record: key, value and headers together; default 1 MiB. */
  readonly maxRecordBytes?: number
}

/**
 * Opens the log port on a Kafka cluster; resolves when a broker has answered. Brokers from 3.6 on. An append of several
 * records stands in one batch, without others' records in between, when that fits the topic's `max.message.bytes`; records
 * that are read share memory with what was fetched with them. Errors: LOG_UNAVAILABLE, ACCESS_DENIED.
 */
export async function openKafkaLog(options: KafkaLogOptions): Promise<Log> {
  const log = new KafkaLog(options)
  try {
    await log.topics()
    return log
  } catch (error) {
    await log.close()
    throw isDenied(error) ? accessDenied(error) : error
  }
}

const WRITING_CONNECTIONS = 4

class KafkaLog implements Log {
  readonly #options: KafkaLogOptions
  readonly #connectionOptions: ConnectionOptions
  readonly #timeoutMs: number
  readonly #connection: Connection
  /** A broker answers one request of a connection after the other: what waits for its disk has connections of its own. */
  readonly #positions: Connection
  readonly #writing: readonly Connection[]
  readonly #directory: TopicDirectory
  readonly #reader: PartitionReader
  readonly #watchdog: Watchdog
  readonly #queues = new Map<number, ProduceQueue>()
  readonly #lanes = new Map<string, AppendLane>()
  readonly #members = new Set<KafkaGroupMember>()
  readonly #writers = new Set<TransactionalWriter>()
  #opened = 0
  #closing: Promise<void> | undefined

  constructor(options: KafkaLogOptions) {
    const { clock, timeoutMs = 30_000, requestTimeoutMs = 30_000 } = options
    this.#options = options
    this.#timeoutMs = timeoutMs
    this.#connectionOptions = { ...options, requestTimeoutMs }
    this.#connection = new Connection(this.#connectionOptions)
    this.#positions = new Connection(this.#connectionOptions)
    this.#writing = Array.from({ length: WRITING_CONNECTIONS }, () => new Connection(this.#connectionOptions))
    this.#directory = new TopicDirectory(this.#connection, clock, timeoutMs)
    this.#watchdog = new Watchdog({ clock, boundMs: options.stallTimeoutMs ?? 300_000, onStall: options.onFatal })
    this.#reader = new PartitionReader(this.#connection, this.#directory, clock, timeoutMs)
  }

  async createTopics(specs: readonly TopicSpec[]): Promise<void> {
    this.#checkOpen()
    await this.#directory.create(specs)
  }

  async topic(name: string): Promise<TopicDescription | undefined> {
    this.#checkOpen()
    const topic = await this.#directory.read(name)
    // What the brokers keep for themselves is for nobody to read: groups' members tell each other secrets there.
    return topic === undefined || topic.isInternal ? undefined : describe(topic)
  }

  async topics(): Promise<readonly TopicDescription[]> {
    this.#checkOpen()
    return (await this.#directory.readAll()).filter(({ isInternal }) => !isInternal).map(describe)
  }

  // Up to the lane this runs within the call, so appends queue in the order of the calls.
  async append(topic: string, partition: number, records: readonly NewRecord[]): Promise<Appended> {
    this.#checkOpen()
    return this.#lane({ topic, partition }).append(records)
  }

  async offsets(partition: TopicPartition): Promise<{ readonly start: number; readonly end: number }> {
    this.#checkOpen()
    return this.#reader.offsets(partition)
  }

  async offsetForTime(partition: TopicPartition, timestampMs: number): Promise<number> {
    this.#checkOpen()
    return this.#reader.offsetForTime(partition, timestampMs)
  }

  async read(partition: TopicPartition, offset: number, options?: ReadOptions): Promise<RecordBatch> {
    this.#checkOpen()
    return this.#reader.read(partition, offset, options)
  }

  async join({ maxRecords, maxBytes, ...options }: GroupOptions): Promise<GroupMember> {
    this.#checkOpen()
    const { clock, onFatal, sessionTimeoutMs = 6_000, rebalanceTimeoutMs = 60_000 } = this.#options
    const member = new KafkaGroupMember({
      ...options,
      ...{ clock, onFatal, sessionTimeoutMs, rebalanceTimeoutMs },
      maxRecords: maxRecords ?? 10_000,
      maxBytes: maxBytes ?? 1024 * 1024,
      connectionOptions: this.#connectionOptions,
      shared: this.#positions,
      directory: this.#directory,
      reader: this.#reader,
      watchdog: this.#watchdog,
      timeoutMs: this.#timeoutMs,
      checkOpen: () => this.#checkOpen(),
    })
    this.#members.add(member)
    member.start()
    return Promise.resolve(member)
  }

  async committed(group: string, partition: TopicPartition): Promise<GroupPosition | undefined> {
    this.#checkOpen()
    const patience = { clock: this.#options.clock, timeoutMs: this.#timeoutMs }
    return committedBy(this.#connection, patience, group, partition)
  }

  async writer(transactionalId: string): Promise<TransactionalWriter> {
    this.#checkOpen()
    const { clock, transactionTimeoutMs = 30_000, maxRecordBytes = 1024 * 1024 } = this.#options
    const connection = this.#writing[this.#opened++ % WRITING_CONNECTIONS] as Connection
    const writer = await KafkaWriter.open(transactionalId, {
      connection,
      directory: this.#directory,
      timeoutMs: this.#timeoutMs,
      ...{ clock, transactionTimeoutMs, maxRecordBytes },
      checkOpen: () => this.#checkOpen(),
    })
    this.#writers.add(writer)
    return writer
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#members].map((member) => member.leave()))
    await Promise.all([...this.#lanes.values()].map((lane) => lane.idle()))
    await Promise.all([...this.#writers].map((writer) => writer.close()))
    await Promise.all([this.#connection, this.#positions, ...this.#writing].map((connection) => connection.close()))
  }

  #lane({ topic, partition }: TopicPartition): AppendLane {
    const name = `${topic}/${partition}`
    let lane = this.#lanes.get(name)
    if (lane === undefined) {
      lane = new AppendLane(
        { topic, partition },
        {
          clock: this.#options.clock,
          directory: this.#directory,
          timeoutMs: this.#timeoutMs,
          maxRecordBytes: this.#options.maxRecordBytes ?? 1024 * 1024,
          queueOf: (nodeId) => this.#queueOf(nodeId),
        },
      )
      this.#lanes.set(name, lane)
    }
    return lane
  }

  #queueOf(nodeId: number): ProduceQueue {
    let queue = this.#queues.get(nodeId)
    if (queue === undefined) {
      const { requestTimeoutMs: timeoutMs } = this.#connectionOptions
      queue = new ProduceQueue(this.#connection, nodeId, { clock: this.#options.clock, timeoutMs })
      this.#queues.set(nodeId, queue)
    }
    return queue
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new LogError('LOG_CLOSED', 'the log is closed')
  }
}

function describe({ name, leaders, id }: TopicMetadata): TopicDescription {
  return { name, partitions: leaders.length, incarnation: id }
}
