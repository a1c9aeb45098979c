import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import type { Logger } from '../../common/logger.js'
import type { Settings } from '../../common/settings.js'
import { rocksDbProvider } from '../../state-stores/rocksdb/provider.js'
import { openEmbeddedLogAt } from '../../topology/log/embedded/embedded-log.js'
import { administer } from '../../topology/log/kafka/administration.js'
import type { ClusterAddress } from '../../topology/log/kafka/administration.js'
import { openKafkaLog } from '../../topology/log/kafka/kafka-log.js'
import type { Log } from '../../topology/log/log.js'
import { kafkaSecurity } from './kafka-security.js'

const logWriteBufferBytes = 4 * 1024 * 1024

export interface OpenedLog {
  readonly log: Log
  /** Deletes what topics of ours hold; the next start makes them anew. */
  clear(topics: readonly string[]): Promise<void>
  /** Closes it and gives the data directory free. */
  close(): Promise<void>
}

/**
 * The log that the settings name: Kafka's where `kafkaBrokers` are given, else the embedded one. Either way `dataDir` is this
 * process's alone until the log closes. `fail` is told of what no repeat will change. Errors: SETTINGS_INVALID for files
 * that cannot be read, LOG_DIRECTORY_IN_USE or STORE_IN_USE, LOG_UNAVAILABLE, ACCESS_DENIED; STORE_NOT_A_DIRECTORY,
 * STORE_WRITE_FAILED or STORE_UNAVAILABLE for a directory that cannot be used.
 */
export async function openLog(
  settings: Settings,
  logger: Logger,
  clock: Clock,
  fail: (error: Error) => void,
): Promise<OpenedLog> {
  if (settings.kafkaBrokers.length > 0) return openOnKafka(settings, logger, clock, fail)
  const stores = rocksDbProvider({ directory: settings.dataDir, writeBufferBytes: logWriteBufferBytes })
  const log = await openEmbeddedLogAt(stores, 'log', {
    clock,
    lingerMs: 1,
    newIncarnation: () => randomUUID(),
    onCleanError: (error) => logger.error({ err: error }, 'cleaning the log failed; it is tried again'),
  })
  return {
    log,
    async clear(topics) {
      for (const topic of topics) {
        const { partitions = 0 } = (await log.topic(topic)) ?? {}
        for (let partition = 0; partition < partitions; partition++) {
          await log.deleteBefore({ topic, partition }, (await log.offsets({ topic, partition })).end)
        }
      }
    },
    close: () => log.close(),
  }
}

/** Where the brokers are, and who asks them. Errors: SETTINGS_INVALID for files that cannot be read. */
export function clusterAddress(settings: Settings): ClusterAddress {
  const { kafkaBrokers: brokers, applicationId } = settings
  return { brokers, clientId: `${applicationId}-${hostname()}`, ...kafkaSecurity(settings) }
}

async function openOnKafka(
  settings: Settings,
  logger: Logger,
  clock: Clock,
  fail: (error: Error) => void,
): Promise<OpenedLog> {
  const address = clusterAddress(settings)
  // Nothing is kept in it: it is there to be locked.
  const lock = await rocksDbProvider({ directory: settings.dataDir }).open('in-use')
  try {
    const log = await openKafkaLog({
      ...address,
      clock,
      sessionTimeoutMs: settings.kafkaSessionTimeoutMs,
      onClientLog: (message) => logger.warn({ message }, 'kafka client'),
      onFatal: fail,
    })
    return {
      log,
      async clear(topics) {
        await administer(address, ({ deleteTopics }) => deleteTopics(topics))
        // A start that comes before the brokers have learnt of it would take them for there, and make none.
        while ((await log.topics()).some(({ name }) => topics.includes(name))) await sleep(clock, 50)
      },
      close: () => log.close().finally(() => lock.close()),
    }
  } catch (error) {
    await lock.close()
    throw error
  }
}
