import { ensureError } from '../../common/errors.js'
import { EngineError } from '../errors.js'
import type { LogRecord, TopicPartition } from '../log/log.js'
import type { JournalEntry } from './entry.js'

/** A journal record with its block decoded. */
export interface DecodedRecord<Entries = readonly JournalEntry[]> {
  readonly offset: number
  readonly timestamp: number
  readonly entries: Entries
}

/**
 * Journal records decoded (by a codec's `decode` or `decodeLazily`), one after the other as they are asked for. A foreign one changes nothing: it is told by
 * `onUnreadable` (BLOCK_UNREADABLE, `details.offset`) and left where it is.
 */
export function* readableRecords<Entries extends Iterable<JournalEntry>>(
  decode: (block: Buffer) => Entries | readonly never[],
  { topic, partition }: TopicPartition,
  records: Iterable<LogRecord>,
  onUnreadable: (error: EngineError) => void,
): Generator<DecodedRecord<Entries | readonly never[]>> {
  for (const { offset, timestamp, value } of records) {
    if (value === null) continue
    let entries: Entries | readonly never[]
    try {
      entries = decode(value)
    } catch (thrown) {
      const message = `journal ${topic}/${partition}/${offset} is skipped: ${ensureError(thrown).message}`
      onUnreadable(new EngineError('BLOCK_UNREADABLE', message, { details: { topic, partition, offset } }))
      entries = []
    }
    yield { offset, timestamp, entries }
  }
}
