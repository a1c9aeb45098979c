import type { JournalReader } from '../audit/journal-source.js'
import type { LogRecord, TopicPartition } from '../log/log.js'
import type { SegmentRecords } from './archive-writer.js'

/** Reads records of about `maxBytes` from `from` on, none at or beyond `end`. */
export async function readSegment(
  reader: JournalReader,
  partition: TopicPartition,
  from: number,
  end: number,
  maxBytes: number,
): Promise<SegmentRecords> {
  const records: LogRecord[] = []
  let bytes = 0
  // What lies before the log's start is gone: the fold tells.
  let to = Math.max(from, Math.min((await reader.offsets(partition)).start, end))
  while (to < end && bytes < maxBytes) {
    const batch = await reader.read(partition, to, { maxBytes: maxBytes - bytes })
    for (const record of batch.records) {
      if (record.offset >= end) break
      records.push(record)
      bytes += record.value?.length ?? 0
    }
    if (batch.next <= to) break
    to = Math.min(batch.next, end)
  }
  return { records, to: Math.max(to, from + 1) }
}

/** Serves a segment that was read, for the fold. */
export function segmentReader({ records, to }: SegmentRecords): Pick<JournalReader, 'offsets' | 'read'> {
  return {
    offsets: () => Promise.resolve({ start: 0, end: to }),
    read: ({ topic, partition }, offset) => {
      const rest = records.filter((record) => record.offset >= offset)
      return Promise.resolve({ topic, partition, records: rest, next: to, end: to })
    },
  }
}
