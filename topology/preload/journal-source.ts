import type { Log, LogRecord, TopicPartition, TopicSpec } from '../log/log.js'
import { names } from '../names.js'

/** A journal record with the offset that it has in its own journal, and where to read on behind it. */
export interface HistoryRecord extends LogRecord {
  readonly next: number
}

/**
 * One site's journal partition, wherever a copy of it can be read: the own log, a mirror in it, or the other site's topic in a
 * shared cluster. Positions are those of the place that is read; a record's offset is that of its own journal.
 */
export interface JournalSource {
  /** Names the journal in what its folds send on: another for each site. */
  readonly journal: string
  offsets(): Promise<{ readonly start: number; readonly end: number }>
  /** Where the first record stands that was stamped at this time or later; the end where there is none. */
  positionOf(timeMs: number): Promise<number>
  read(position: number): Promise<{ readonly records: readonly HistoryRecord[]; readonly next: number }>
}

/** Header of a mirrored record: `offset@incarnation` in the journal that it was copied from. */
export const ORIGIN = '__pulsefold.origin'
const READ_BYTES = 1024 * 1024

/** A journal as it stands in a log, the own one or a shared one. */
export function journalIn(log: Log, partition: TopicPartition, journal: string): JournalSource {
  return {
    journal,
    offsets: () => log.offsets(partition),
    positionOf: (timeMs) => log.offsetForTime(partition, timeMs),
    async read(position) {
      const { records, next } = await log.read(partition, position, { maxBytes: READ_BYTES })
      return { records: records.map((record) => ({ ...record, next: record.offset + 1 })), next }
    },
  }
}

/** The mirror of a journal: the same records with their first stamps, each with its offset beside it. */
export function mirrorIn(log: Log, partition: TopicPartition, journal: string): JournalSource {
  return {
    journal,
    offsets: () => log.offsets(partition),
    positionOf: (timeMs) => log.offsetForTime(partition, timeMs),
    async read(position) {
      const { records, next } = await log.read(partition, position, { maxBytes: READ_BYTES })
      return {
        records: records.map((record) => ({ ...record, offset: originOf(record).offset, next: record.offset + 1 })),
        next,
      }
    },
  }
}

/** Of a source what comes before this offset of its own journal. */
export function upTo(source: JournalSource, offset: number): JournalSource {
  return {
    ...source,
    async read(position) {
      const { records, next } = await source.read(position)
      return { records: records.filter((record) => record.offset < offset), next }
    },
  }
}

/** Where a mirrored record stands in its own journal. */
export function originOf({ offset, headers }: LogRecord): { readonly offset: number; readonly incarnation: string } {
  const text = headers.find(([name]) => name === ORIGIN)?.[1].toString() ?? `${offset}@`
  const at = text.indexOf('@')
  return { offset: Number(text.slice(0, at)), incarnation: text.slice(at + 1) }
}

/** The topic that holds a site's journal as the other site copies it. */
export function mirrorTopic(site: string, journalTopic: string, partitions: number, retentionMs: number): TopicSpec {
  return {
    name: names.mirror(site, journalTopic),
    partitions,
    cleanup: 'delete',
    retentionMs,
    retentionBytes: -1,
    timestampType: 'CreateTime',
  }
}
