import type { Log, TopicPartition } from '../log/log.js'

const MAX_BYTES = 64 * 1024

/** Whether a record stands between two offsets: there may be the marks of transactions only, and what was in aborted ones. */
export async function holdsRecords(
  log: Pick<Log, 'read'>,
  at: TopicPartition,
  from: number,
  to: number,
): Promise<boolean> {
  for (let offset = from; offset < to;) {
    const { records, next } = await log.read(at, offset, { maxRecords: 1, maxBytes: MAX_BYTES })
    if (records.length > 0) return true
    // A broker that has nothing at hand now may have a record.
    if (next <= offset) return true
    offset = next
  }
  return false
}
