import type { Clock } from '../../common/clock.js'
import type { EventEntry } from '../journal/entry.js'
import type { JournalWriter } from '../journal/journal-writer.js'
import type { LogRecord, RecordBatch } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { Decoded, Input, Processor } from '../processor.js'
import type { DeadLetter } from './dead-letters.js'
import { recordBytes } from './record-bytes.js'

export interface IngestEnvironment {
  readonly clock: Clock
  readonly partitions: number
  journalWriter(domain: string, partition: number): JournalWriter
  sendDeadLetter(letter: DeadLetter, original: LogRecord): Promise<unknown>
  /** `result`: accepted, skipped or rejected; `reason` for the last two. */
  onDecoded(topic: string, result: Decoded['kind'], reason: string): void
}

/** An input topic's route: whose input it is. */
export interface Route {
  readonly processor: Processor
  readonly input: Input
  /** Of the input topic: part of every event's source position. */
  readonly incarnation: string
}

/** Largest record taken from an input topic: a larger one could not be sent on. */
const MAX_RECORD_BYTES = 1024 * 1024

/**
 * Takes a batch of an input topic into the journal: decode, re-key, append; what cannot be accepted goes to the dead letters.
 * Resolves when all of it is acknowledged, so the source position may move past it. Rejects (and the batch comes again) only
 * for what is worth a retry; what had been appended already is then dropped by the fold as a repeat.
 */
export async function ingest(environment: IngestEnvironment, route: Route, batch: RecordBatch): Promise<void> {
  const { processor, input, incarnation } = route
  const source = `${batch.topic}/${batch.partition}@${incarnation}`
  const byPartition = new Map<number, EventEntry[]>()
  const sent: Promise<unknown>[] = []
  for (const record of batch.records) {
    const pending = recordBytes(record) > MAX_RECORD_BYTES ? tooLarge : input.decode(record)
    const decoded = pending instanceof Promise ? await pending : pending
    environment.onDecoded(batch.topic, decoded.kind, decoded.kind === 'event' ? '' : reasonOf(decoded))
    if (decoded.kind === 'event') {
      const partition = partitionOf(decoded.key, environment.partitions)
      const entry: EventEntry = {
        kind: 'event',
        source: { source, offset: record.offset, index: 0 },
        event: decoded.event,
      }
      const entries = byPartition.get(partition)
      if (entries === undefined) byPartition.set(partition, [entry])
      else entries.push(entry)
    } else if (decoded.kind === 'rejected') {
      const { code, message } = decoded
      const letter = { topic: batch.topic, partition: batch.partition, offset: record.offset, code, message }
      sent.push(environment.sendDeadLetter(letter, record))
    }
  }
  for (const [partition, entries] of byPartition) {
    sent.push(environment.journalWriter(processor.name, partition).append(entries))
  }
  await Promise.all(sent)
}

const tooLarge: Decoded = {
  kind: 'rejected',
  code: 'RECORD_TOO_LARGE',
  message: `the record is larger than ${MAX_RECORD_BYTES} bytes`,
}

function reasonOf(decoded: Exclude<Decoded, { kind: 'event' }>): string {
  return decoded.kind === 'skipped' ? decoded.reason : decoded.code
}
