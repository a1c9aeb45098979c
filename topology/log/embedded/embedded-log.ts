import type { Clock } from '../../../common/clock.js'
import type { KeyValueStore, StoreProvider, WriteOperation } from '../../../state-stores/key-value-store.js'
import { LogError } from '../errors.js'
import type {
  Appended,
  GroupMember,
  GroupOptions,
  Log,
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
import { Cleaner } from './cleaner.js'
import { ConsumerGroup } from './consumer-group.js'
import { EmbeddedGroupMember } from './group-member.js'
import { logClock } from './log-clock.js'
import type { Partition } from './partition.js'
import { PositionRows } from './position-rows.js'
import { reopeningStore } from './reopening-store.js'
import { logErrorOf } from './store-failure.js'
import { TailCache } from './tail-cache.js'
import { TopicRegistry } from './topic-registry.js'
import { WriterEpochs } from './transactional-writer.js'
import { WriteQueue } from './write-queue.js'

export interface EmbeddedLogOptions {
  readonly clock: Clock
  /** A text never given before: a topic's incarnation. */
  readonly newIncarnation: () => string
  /** What went wrong while cleaning in the background; it is tried again at the next turn. */
  readonly onCleanError: (error: Error) => void
  /** Bytes of the newest batches kept in memory, all partitions together; default 16 MiB. */
  readonly cacheBytes?: number
  /** Bound of one record: key, value and headers together; default 1 MiB. */
  readonly maxRecordBytes?: number
  /** Bound of what may wait for the disk; above it `append` rejects with LOG_UNAVAILABLE. Default 64 MiB. */
  readonly maxWaitingBytes?: number
  /** How often retention and compaction run; default 5 minutes. */
  readonly cleanIntervalMs?: number
  /** How long compaction keeps a tombstone; default 1 day. */
  readonly deleteRetentionMs?: number
  /** Keys that compaction holds in memory at a time; default 65,536. */
  readonly compactionKeys?: number
}

/** The log port in one process, on one key-value store. */
export interface EmbeddedLog extends Log {
  /** Applies retention and compaction now. Retention goes by the time of the append, in whole batches. */
  clean(): Promise<void>
  /** Moves the log start up to `offset`, at most to the end; what lies before is gone. */
  deleteBefore(partition: TopicPartition, offset: number): Promise<void>
}

/**
 * Opens the log that is kept in `store`, which stays open when the log closes. An append is acknowledged when it has reached
 * the disk; all that wait share one write. A failed write is LOG_UNAVAILABLE for those that waited, and the next one is
 * tried afresh; records of a rejected append may come up after a crash only, and never in place of acknowledged ones.
 */
export async function openEmbeddedLog(
  options: EmbeddedLogOptions & { readonly store: KeyValueStore },
): Promise<EmbeddedLog> {
  return openLog(options, () => Promise.resolve())
}

/**
 * As `openEmbeddedLog`, on a store of its own: it is closed with the log, and opened anew after a failed write, so that
 * the log works again when the disk does. Errors: LOG_DIRECTORY_IN_USE, LOG_DAMAGED.
 */
export async function openEmbeddedLogAt(
  stores: StoreProvider,
  name: string,
  options: EmbeddedLogOptions,
): Promise<EmbeddedLog> {
  const store = await reopeningStore(stores, name).catch((error: unknown) => {
    throw logErrorOf(error)
  })
  try {
    return await openLog({ ...options, store }, () => store.close())
  } catch (error) {
    await store.close()
    throw error
  }
}

async function openLog(
  options: EmbeddedLogOptions & { readonly store: KeyValueStore },
  closeStore: () => Promise<void>,
): Promise<EmbeddedLog> {
  const { store, clock } = options
  const now = logClock(clock)
  const cache = new TailCache(options.cacheBytes ?? 16 * 1024 * 1024)
  const queue = new WriteQueue(store, options.maxWaitingBytes ?? 64 * 1024 * 1024)
  const topics = await TopicRegistry.recover({ store, cache, now }, queue, options.newIncarnation)
  const epochs = await WriterEpochs.recover(store, queue)
  const cleaner = new Cleaner(topics, {
    clock,
    now,
    cleanIntervalMs: options.cleanIntervalMs ?? 5 * 60_000,
    deleteRetentionMs: options.deleteRetentionMs ?? 24 * 3_600_000,
    compactionKeys: options.compactionKeys ?? 65_536,
    onError: options.onCleanError,
  })
  return new StoreLog({
    clock,
    now,
    maxRecordBytes: options.maxRecordBytes ?? 1024 * 1024,
    queue,
    topics,
    epochs,
    cleaner,
    positions: new PositionRows(store, queue),
    closeStore,
  })
}

interface Parts {
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

class StoreLog implements EmbeddedLog {
  readonly #parts: Parts
  readonly #groups = new Map<string, ConsumerGroup>()
  #closing: Promise<void> | undefined

  constructor(parts: Parts) {
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

  async join({ group, topics, listener, maxRecords, maxBytes }: GroupOptions): Promise<GroupMember> {
    this.#checkOpen()
    for (const topic of topics) this.#parts.topics.get(topic)
    const consumers = this.#groups.get(group) ?? new ConsumerGroup((topic) => this.#parts.topics.get(topic).partitions)
    this.#groups.set(group, consumers)
    const member: EmbeddedGroupMember = new EmbeddedGroupMember({
      topics,
      listener,
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
      leave: () => consumers.leave(member),
    })
    consumers.join(member)
    return Promise.resolve(member)
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
