import { randomUUID } from 'node:crypto'
import { systemClock } from '../../../common/clock.js'
import { rocksDbProvider } from '../../../state-stores/rocksdb/provider.js'
import { openEmbeddedLogAt } from '../../../topology/log/embedded/embedded-log.js'
import type { Log, NewRecord } from '../../../topology/log/log.js'
import { deviceIds } from '../devices.js'
import type { Figure } from '../figure.js'
import { byPartition, halfChanged, PARTITIONS } from '../heartbeats.js'

const DEVICES = 60_000
const TOPIC = 'bench-raw'

export interface RawTimes {
  readonly appendMs: number
  readonly readMs: number
}

/** Appends records by partition to a topic nobody listens to, and reads them back. */
export async function appendAndRead(log: Log, records: readonly NewRecord[][]): Promise<RawTimes> {
  const { length: partitions } = records
  await log.createTopics([
    { name: TOPIC, partitions, cleanup: 'delete', retentionMs: -1, retentionBytes: -1, timestampType: 'CreateTime' },
  ])
  const started = performance.now()
  await Promise.all(records.map((some, partition) => log.append(TOPIC, partition, some)))
  const appendMs = performance.now() - started
  await Promise.all(records.map((some, partition) => readAll(log, partition, some.length)))
  return { appendMs, readMs: performance.now() - started - appendMs }
}

async function readAll(log: Log, partition: number, count: number): Promise<void> {
  let offset = 0
  while (offset < count) offset = (await log.read({ topic: TOPIC, partition }, offset)).next
}

/** What the log does with a burst of heartbeats that nobody folds: the floor under the other rows. */
export async function raw(directory: string): Promise<readonly Figure[]> {
  const log = await openEmbeddedLogAt(rocksDbProvider({ directory }), 'log', {
    clock: systemClock,
    newIncarnation: randomUUID,
    onCleanError(error) {
      throw error
    },
  })
  const records = byPartition(halfChanged(deviceIds(DEVICES), 'NONE'), Date.now())
  const { appendMs, readMs } = await appendAndRead(log, records)
  await log.close()
  const what = `${DEVICES} heartbeats over ${PARTITIONS} partitions, without processing`
  return [
    { what: `append of ${what}`, value: (DEVICES / appendMs) * 1000, unit: '/s', compared: 'durable' },
    {
      what: `read of ${what}`,
      value: (DEVICES / readMs) * 1000,
      unit: '/s',
      compared: 'from the tail cache where it fits',
    },
  ]
}
