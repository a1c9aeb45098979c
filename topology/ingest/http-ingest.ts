import type { JournalWriter } from '../journal/journal-writer.js'
import { LogError } from '../log/errors.js'
import type { Log, TopicPartition } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { EventPosition } from '../processor.js'
import type { IngestEvent, Position } from '../streams.js'

/** An event over HTTP is acknowledged within this time, or its caller told to send it again. */
const INGEST_MS = 10_000

/** The journal to append to, with a writer for each partition. */
export interface IngestJournal {
  readonly journalTopic: string
  readonly writers: readonly JournalWriter[]
}

export type HttpIngest = (
  journal: IngestJournal,
  events: readonly IngestEvent[],
) => Promise<readonly (Position & EventPosition)[]>

/** Appends events of HTTP callers, those of one partition in one go; answers their positions in the order of the events. */
export function httpIngest(log: Pick<Log, 'offsets'>): HttpIngest {
  /** Journal partitions known to have had an owner. */
  const begun = new Set<string>()

  /** The first record of a journal is its first owner's, so none may come before. */
  async function checkBegun({ topic, partition }: TopicPartition): Promise<void> {
    const name = `${topic}/${partition}`
    if (begun.has(name)) return
    const { end } = await log.offsets({ topic, partition }).catch((thrown: unknown) => {
      // A first start makes the topics when HTTP is served already.
      if (thrown instanceof LogError && thrown.code === 'TOPIC_UNKNOWN') return { end: 0 }
      throw thrown
    })
    if (end > 0) {
      begun.add(name)
      return
    }
    throw new LogError('LOG_UNAVAILABLE', `journal ${topic}/${partition} has had no owner yet`)
  }

  return async ({ journalTopic: topic, writers }, events) => {
    const byPartition = new Map<number, number[]>()
    for (const [at, { key }] of events.entries()) {
      const partition = partitionOf(key, writers.length)
      const places = byPartition.get(partition)
      if (places === undefined) byPartition.set(partition, [at])
      else places.push(at)
    }
    const positions: (Position & EventPosition)[] = []
    await Promise.all(
      [...byPartition].map(async ([partition, places]) => {
        await checkBegun({ topic, partition })
        const entries = places.map((at) => {
          const { event, original, actor, reason } = events[at] as IngestEvent
          return {
            ...{ kind: 'event' as const, event },
            ...(original !== null && { original }),
            ...(actor !== undefined && { actor }),
            ...(reason !== undefined && { reason }),
          }
        })
        const appended = (await writers[partition]?.append(entries, INGEST_MS)) ?? []
        for (const [i, at] of places.entries()) positions[at] = { topic, partition, ...(appended[i] as EventPosition) }
      }),
    )
    return positions
  }
}
