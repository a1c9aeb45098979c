// For the kill test: appends to a log on RocksDB without end and prints what was acknowledged, one line each.
import { systemClock } from '../../../common/clock.js'
import { rocksDbProvider } from '../../../state-stores/rocksdb/provider.js'
import { openEmbeddedLogAt } from './embedded-log.js'

const [, , directory = '', topic = '', partitions = '1', round = '0'] = process.argv

const log = await openEmbeddedLogAt(rocksDbProvider({ directory }), 'log', {
  clock: systemClock,
  newIncarnation: () => `round ${round}`,
  onCleanError(error) {
    throw error
  },
})
await log.createTopics([
  {
    name: topic,
    partitions: Number(partitions),
    cleanup: 'delete',
    retentionMs: -1,
    retentionBytes: -1,
    timestampType: 'LogAppendTime',
  },
])

async function appendTo(partition: number, lane: number): Promise<void> {
  for (let n = 0; ; n++) {
    const count = 1 + ((n * 7 + lane) % 50)
    const name = `${round}/${partition}/${lane}/${n}`
    const records = Array.from({ length: count }, (_, i) => ({ key: null, value: Buffer.from(`${name}/${i}`) }))
    const { baseOffset, timestamp } = await log.append(topic, partition, records)
    process.stdout.write(`${JSON.stringify({ partition, baseOffset, timestamp, name, count })}\n`)
  }
}

const lanes = Array.from({ length: Number(partitions) * 3 }, (_, i) => appendTo(i % Number(partitions), i))
await Promise.all(lanes)
