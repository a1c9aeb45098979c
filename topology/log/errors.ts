import { PulsefoldError } from '../../common/errors.js'
import type { ErrorTable } from '../../common/errors.js'

export const logErrors = {
  LOG_CLOSED: { action: 'The log is closing: the process is stopping.', retryable: true },
  LOG_DIRECTORY_IN_USE: { action: 'Another process uses this directory. Stop it, or set another dataDir.' },
  LOG_DAMAGED: { action: 'The log on disk is damaged. Restore it from a copy; nothing was deleted.' },
  LOG_UNAVAILABLE: { action: 'The log did not acknowledge in time. Check the broker and the disk.', retryable: true },
  ACCESS_DENIED: {
    action:
      'Check kafkaSaslMechanism, kafkaUsername and kafkaPassword, and what the brokers allow this user: its topics, group and transactions.',
  },
  TOPIC_UNKNOWN: { action: 'Create the topic, or correct its name in the settings.' },
  TOPIC_MISMATCH: { action: 'Make the topic anew with the expected settings, or set `partitions` to what it has.' },
  PARTITION_UNKNOWN: { action: 'Ask for a partition from 0 to one less than the topic has.' },
  OFFSET_OUT_OF_RANGE: {
    action: 'The records before the log start were deleted by retention: start there and report the gap.',
  },
  CODEC_UNSUPPORTED: {
    action:
      'Let the producers of this topic compress with gzip, snappy, lz4 or not at all; zstd needs Node 22.15 or newer.',
  },
  CLIENT_STALLED: {
    action:
      'The Kafka client hangs, which only a new start mends. Let the supervisor start the process again, and report it with the log.',
  },
  RECORD_TOO_LARGE: { action: 'Send smaller records, or dead-letter this one in short form.' },
  WRITER_FENCED: {
    action: 'Another instance owns this task by now. This one stops it and rejoins; nothing was written.',
  },
} as const satisfies ErrorTable

/** What a log refuses; `details` name topic, partition and offset where they matter. */
export class LogError extends PulsefoldError<keyof typeof logErrors> {
  constructor(
    code: keyof typeof logErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(logErrors, code, message, context)
  }
}
