import { trustLevelEventSchemas } from '../../schemas/trust-level/journal-schemas.js'
import type { JournalReader } from '../../topology/audit/journal-source.js'
import { blockCodec } from '../../topology/journal/block-codec.js'
import type { JournalEntry } from '../../topology/journal/entry.js'
import type { LogRecord, TopicPartition } from '../../topology/log/log.js'
import { partitionOf } from '../../topology/partitioner.js'
import { halfChanged, HEARTBEAT_TOPIC, PARTITIONS } from './heartbeats.js'
import type { Heartbeat } from './heartbeats.js'

/** Entries of a block, as an ingest under load makes them. */
const BLOCK_ENTRIES = 500
const ROUND_MS = 60_000
const NOTHING = { eventTimeSource: 'CE_TIME', producer: 'bench', eventType: 'bench' } as const

/**
 * A journal of trust levels as a log has it, and behind that rounds of heartbeats that nobody keeps: each is made when it is read. A
 * device reports once a minute, and every second one turns with each round.
 */
export function longJournal(
  log: JournalReader,
  begun: { readonly topic: string; readonly ends: readonly number[]; readonly timeMs: number },
  ids: readonly string[],
  rounds: number,
): JournalReader {
  const codec = blockCodec(trustLevelEventSchemas)
  const turned = [halfChanged(ids, 'NONE'), halfChanged(ids, 'COMPLETE')].map((heartbeats) => {
    const byPartition = Array.from({ length: PARTITIONS }, (): Heartbeat[] => [])
    for (const one of heartbeats) byPartition[partitionOf(one.cmHandle, PARTITIONS)]?.push(one)
    return byPartition
  })
  const blocksOf = (partition: number): number => Math.ceil((turned[0]?.[partition]?.length ?? 0) / BLOCK_ENTRIES)
  const endOf = (partition: number): number => (begun.ends[partition] ?? 0) + rounds * blocksOf(partition)

  function made(partition: number, offset: number): LogRecord {
    const place = offset - (begun.ends[partition] ?? 0)
    const blocks = blocksOf(partition)
    const [round, block] = [Math.floor(place / blocks), place % blocks]
    const timestamp = begun.timeMs + round * ROUND_MS + Math.floor((block * ROUND_MS) / blocks)
    const some = turned[round % 2]?.[partition]?.slice(block * BLOCK_ENTRIES, (block + 1) * BLOCK_ENTRIES) ?? []
    const entries = some.map(({ cmHandle, trustLevel }, index): JournalEntry => {
      const data = { cmHandle, trustLevel, eventTime: timestamp - 50, ...NOTHING }
      const source = {
        source: `${HEARTBEAT_TOPIC}/${partition}@bench`,
        offset: offset * BLOCK_ENTRIES + index,
        index: 0,
      }
      return { kind: 'event', source, event: { type: 'HeartbeatReported', data } }
    })
    return { offset, timestamp, key: null, value: codec.encode(entries), headers: [] }
  }

  const isMade = ({ topic, partition }: TopicPartition, offset: number): boolean =>
    topic === begun.topic && offset >= (begun.ends[partition] ?? 0)

  return {
    topic: (name) => log.topic(name),
    async offsets(at) {
      const { start, end } = await log.offsets(at)
      return { start, end: at.topic === begun.topic ? endOf(at.partition) : end }
    },
    async offsetForTime(at, timeMs) {
      const blocks = blocksOf(at.partition)
      if (at.topic !== begun.topic || timeMs <= begun.timeMs) return log.offsetForTime(at, timeMs)
      const place = Math.ceil(((timeMs - begun.timeMs) * blocks) / ROUND_MS)
      return Math.min(endOf(at.partition), (begun.ends[at.partition] ?? 0) + place)
    },
    async read(at, offset, options) {
      if (!isMade(at, offset)) {
        const batch = await log.read(at, offset, options)
        if (at.topic !== begun.topic) return batch
        const end = begun.ends[at.partition] ?? 0
        return {
          ...batch,
          records: batch.records.filter((record) => record.offset < end),
          next: Math.min(batch.next, end),
        }
      }
      const end = endOf(at.partition)
      const records: LogRecord[] = []
      let [next, bytes] = [offset, 0]
      for (; next < end && bytes < (options?.maxBytes ?? Number.POSITIVE_INFINITY); next++) {
        const record = made(at.partition, next)
        records.push(record)
        bytes += record.value?.length ?? 0
      }
      return { ...at, records, next, end }
    },
  }
}
