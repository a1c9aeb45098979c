import type { Clock } from '../../../common/clock.js'
import type { WriteOperation } from '../../../state-stores/key-value-store.js'
import { LogError } from '../errors.js'
import type {
  Appended,
  GroupMember,
  GroupOptions,
  GroupPosition,
  NewRecord,
  ReadOptions,
  RecordBatch,
  TopicDescription,
  TopicPartition,
  TopicSpec,
  TransactionalWriter,
} from '../log.js'
import type { EncodedBatch } from './batch-codec.js'
import { encodeBatches } from './batch-codec.js'
import type { Cleaner } from './cleaner.js'
import { ConsumerGroup } from './consumer-group.js'
import type { EmbeddedLog } from './embedded-log.js'
import { EmbeddedGroupMember } from './group-member.js'
import type { Partition } from './partition.js'
import type { PositionRows } from './position-rows.js'
import type { TopicRegistry } from './topic-registry.js'
import type { WriterEpochs } from './writer-epochs.js'
import type { WriteQueue } from './write-queue.js'

/** What an embedded log is made of. */
export interface LogParts {
  readonly clock: Clock
  readonly now: () => number
  readonly maxRecordBytes: number
  readonly queue: WriteQueue
  readonly topics: TopicRegistry
  readonly epochs: WriterEpochs
  readonly cleaner: Cleaner
  readonly positions: PositionRows
  readonly closeStore: () => Promise<void>
}

/** An append that knows its partition and waits for its offsets. */
interface EncodedAppend {
  readonly partition: Partition
  readonly stampsAll: boolean
  readonly batches: readonly EncodedBatch[]
}

/** The log over its parts: checks, then hands on. */
export class StoreLog implements EmbeddedLog {
  readonly #parts: LogParts
  readonly #groups = new Map<string, ConsumerGroup>()
  #closing: Promise<void> | undefined

  constructor(parts: LogParts) {
    this.#parts = parts
  }

  async createTopics(specs: readonly TopicSpec[]): Promise<void> {
    this.#checkOpen()
    await this.#parts.topics.create(specs)
  }

  async topic(name: string): Promise<TopicDescription | undefined> {
    return (await this.topics()).find((topic) => topic.name === name)
  }

  async topics(): Promise<readonly TopicDescription[]> {
    this.#checkOpen()
    return Promise.resolve(
      [...this.#parts.topics.all()].map(({ spec, incarnation }) => ({
        name: spec.name,
        partitions: spec.partitions,
        incarnation,
      })),
    )
  }

  // Up to `submit` this runs within the call, so appends queue in the order of the calls.
  async append(topic: string, partition: number, records: readonly NewRecord[]): Promise<Appended> {
    this.#checkOpen()
    const append = this.#encode({ topic, partition }, records)
    return this.#parts.queue.submit(bytesOf(append), (operations) => prepare(append, operations))
  }

  async offsets(partition: TopicPartition): Promise<{ readonly start: number; readonly end: number }> {
    const { start, end } = this.#find(partition)
    return Promise.resolve({ start, end })
  }

  async offsetForTime(partition: TopicPartition, timestampMs: number): Promise<number> {
    return this.#find(partition).offsetForTime(timestampMs)
  }

  async read(partition: TopicPartition, offset: number, options?: ReadOptions): Promise<RecordBatch> {
    return this.#find(partition).read(offset, options)
  }

  async join({ group, maxRecords, maxBytes, ...options }: GroupOptions): Promise<GroupMember> {
    this.#checkOpen()
    const partitionsOf = (topic: string): readonly Partition[] => this.#parts.topics.find(topic)?.partitions ?? []
    const consumers = this.#groups.get(group) ?? new ConsumerGroup(partitionsOf)
    this.#groups.set(group, consumers)
    const member: EmbeddedGroupMember = new EmbeddedGroupMember({
      ...options,
      clock: this.#parts.clock,
      maxRecords: maxRecords ?? 10_000,
      maxBytes: maxBytes ?? 1024 * 1024,
      find: (partition) => this.#parts.topics.partition(partition),
      commit: async (partition, position) => {
        const number = this.#number(partition)
        if (!member.holds(this.#find(partition))) throw notHeld(partition)
        await this.#parts.positions.put(group, number, partition, position)
      },
      committed: async (partition) => this.#parts.positions.get(group, this.#number(partition), partition),
      rejoin: () => consumers.rejoin(),
      leave: async () => {
        await consumers.leave(member)
        if (consumers.isEmpty) this.#groups.delete(group)
      },
    })
    consumers.join(member)
    return Promise.resolve(member)
  }

  async committed(group: string, partition: TopicPartition): Promise<GroupPosition | undefined> {
    this.#checkOpen()
    return this.#parts.positions.get(group, this.#number(partition), partition)
  }

  async writer(transactionalId: string): Promise<TransactionalWriter> {
    this.#checkOpen()
    const { epochs, queue } = this.#parts
    const epoch = await epochs.next(transactionalId)
    let closed = false
    return {
      append: async (parts) => {
        this.#checkOpen()
        if (closed) throw new LogError('LOG_CLOSED', 'this writer is closed')
        const appends = parts.map((part) => this.#encode(part, part.records))
        const bytes = appends.reduce((sum, append) => sum + bytesOf(append), 0)
        return queue.submit(bytes, (operations) => {
          epochs.check(transactionalId, epoch)
          const prepared = appends.map((append) => prepare(append, operations))
          return {
            applied: () => prepared.map((part) => part.applied()),
            undo: () => prepared.forEach((part) => part.undo()),
          }
        })
      },
      close: () => {
        closed = true
        return Promise.resolve()
      },
    }
  }

  async clean(): Promise<void> {
    this.#checkOpen()
    await this.#parts.cleaner.clean()
  }

  async deleteBefore(partition: TopicPartition, offset: number): Promise<void> {
    this.#checkOpen()
    await this.#parts.cleaner.deleteBefore(partition, offset)
  }

  async recreateTopic(spec: TopicSpec): Promise<void> {
    this.#checkOpen()
    await this.#parts.topics.recreate(spec)
    for (const group of this.#groups.values()) group.rejoin()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#groups.values()].map((group) => group.close()))
    await this.#parts.cleaner.close()
    await this.#parts.queue.close()
    await this.#parts.closeStore()
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new LogError('LOG_CLOSED', 'the log is closed')
  }

  #find(partition: TopicPartition): Partition {
    this.#checkOpen()
    return this.#parts.topics.partition(partition)
  }

  #number(partition: TopicPartition): number {
    this.#find(partition)
    return this.#parts.topics.get(partition.topic).number
  }

  #encode(target: TopicPartition, records: readonly NewRecord[]): EncodedAppend {
    const partition = this.#parts.topics.partition(target)
    const stampsAll = this.#parts.topics.get(target.topic).spec.timestampType === 'LogAppendTime'
    const batches = encodeBatches(records, stampsAll ? 'log' : this.#parts.now(), this.#parts.maxRecordBytes)
    return { partition, stampsAll, batches }
  }
}

function prepare(
  { partition, stampsAll, batches }: EncodedAppend,
  operations: WriteOperation[],
): ReturnType<Partition['prepareAppend']> {
  return partition.prepareAppend(batches, stampsAll, operations)
}

function notHeld({ topic, partition }: TopicPartition): LogError {
  return new LogError('WRITER_FENCED', `partition ${partition} of ${topic} is another member's`, {
    details: { topic, partition },
  })
}

function bytesOf({ batches }: EncodedAppend): number {
  return batches.reduce((sum, { value }) => sum + value.length, 0)
}
