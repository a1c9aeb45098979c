import { ensureError } from '../../common/errors.js'
import { EngineError } from '../errors.js'
import type { LogRecord, TopicPartition } from '../log/log.js'
import type { BlockCodec } from './block-codec.js'
import type { JournalEntry } from './entry.js'

/** A journal record with its block decoded. */
export interface DecodedRecord {
  readonly offset: number
  readonly timestamp: number
  readonly entries: readonly JournalEntry[]
}

/**
 * Journal records decoded, one after the other as they are asked for. A foreign one changes nothing: it is told by
 * `onUnreadable` (BLOCK_UNREADABLE, `details.offset`) and left where it is.
 */
export function* readableRecords(
  codec: BlockCodec,
  { topic, partition }: TopicPartition,
  records: Iterable<LogRecord>,
  onUnreadable: (error: EngineError) => void,
): Generator<DecodedRecord> {
  for (const { offset, timestamp, value } of records) {
    if (value === null) continue
    let entries: readonly JournalEntry[]
    try {
      entries = codec.decode(value)
    } catch (thrown) {
      const message = `journal ${topic}/${partition}/${offset} is skipped: ${ensureError(thrown).message}`
      onUnreadable(new EngineError('BLOCK_UNREADABLE', message, { details: { topic, partition, offset } }))
      entries = []
    }
    yield { offset, timestamp, entries }
  }
}
