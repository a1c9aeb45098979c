import type { Clock } from '../../../common/clock.js'
import type { KeyValueStore, StoreProvider } from '../../../state-stores/key-value-store.js'
import type { Log, TopicPartition, TopicSpec } from '../log.js'
import { Cleaner } from './cleaner.js'
import { logClock } from './log-clock.js'
import { PositionRows } from './position-rows.js'
import { reopeningStore } from './reopening-store.js'
import { openErrorOf } from './store-failure.js'
import { StoreLog } from './store-log.js'
import { TailCache } from './tail-cache.js'
import { TopicRegistry } from './topic-registry.js'
import { WriterEpochs } from './writer-epochs.js'
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
  /** How long a small write waits for company after another one, ms; default 0. */
  readonly lingerMs?: number
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
  /**
   * Deletes a topic and makes it anew, with what it is to be from now on: another incarnation, without records and positions of
   * groups. Its consumers are given the new partitions. Errors: TOPIC_UNKNOWN.
   */
  recreateTopic(spec: TopicSpec): Promise<void>
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
 * the log works again when the disk does. Errors: LOG_DIRECTORY_IN_USE, LOG_DAMAGED, STORE_NOT_A_DIRECTORY,
 * STORE_WRITE_FAILED, STORE_UNAVAILABLE.
 */
export async function openEmbeddedLogAt(
  stores: StoreProvider,
  name: string,
  options: EmbeddedLogOptions,
): Promise<EmbeddedLog> {
  const store = await reopeningStore(stores, name).catch((error: unknown) => {
    throw openErrorOf(error)
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
  const queue = new WriteQueue(store, {
    clock,
    maxWaitingBytes: options.maxWaitingBytes ?? 64 * 1024 * 1024,
    lingerMs: options.lingerMs ?? 0,
  })
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
