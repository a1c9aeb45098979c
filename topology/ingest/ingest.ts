import { cut, ensureError } from '../../common/errors.js'
import type { EventEntry } from '../journal/entry.js'
import type { JournalWriter } from '../journal/journal-writer.js'
import { LogError } from '../log/errors.js'
import type { LogRecord, RecordBatch } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { Decoded, Input, Processor } from '../processor.js'
import { isWorthRetry } from '../retry.js'
import { Tally } from '../tally.js'
import type { DeadLetter } from './dead-letters.js'
import { recordBytes } from './record-bytes.js'

export interface IngestEnvironment {
  readonly partitions: number
  journalWriter(domain: string, partition: number): JournalWriter
  sendDeadLetter(letter: DeadLetter, original: LogRecord): Promise<unknown>
  /** `result`: accepted, skipped or rejected; `reason` for the last two. */
  onDecoded(topic: string, result: string, reason: string, times: number): void
}

/** An input topic's route: whose input it is. */
export interface Route {
  readonly processor: Processor
  readonly input: Input
  /** Of the input topic: part of every event's source position. */
  readonly incarnation: string
}

/** Largest record taken from an input topic: a larger one could not be sent on. */
const MAX_INPUT_BYTES = 1024 * 1024

/** An event with the record that it came in. */
interface Accepted {
  readonly entry: EventEntry
  readonly record: LogRecord
}

/**
 * Takes a batch of an input topic into the journal: decode, re-key, append; what cannot be accepted goes to the dead letters.
 * Resolves when all of it is acknowledged, so the source position may move past it. Rejects (and the batch comes again) only
 * for what is worth a retry; what had been appended already is then dropped by the fold as a repeat.
 */
export async function ingest(environment: IngestEnvironment, route: Route, batch: RecordBatch): Promise<void> {
  const { processor, input, incarnation } = route
  const source = `${batch.topic}/${batch.partition}@${incarnation}`
  // All is decoded before any of it is sent: a batch that comes again has left no dead letters behind.
  const results: Decoded[] = []
  for (const record of batch.records) {
    const decoded = decode(input, record)
    results.push(decoded instanceof Promise ? await decoded : decoded)
  }
  const byPartition = new Map<number, Accepted[]>()
  const tally = new Tally()
  const sent: Promise<unknown>[] = []
  const reject = (record: LogRecord, code: string, message: string): Promise<unknown> =>
    environment.sendDeadLetter(
      { topic: batch.topic, partition: batch.partition, offset: record.offset, code, message },
      record,
    )
  for (const [i, record] of batch.records.entries()) {
    const decoded = results[i] as Decoded
    tally.add(decoded.kind, decoded.kind === 'event' ? '' : reasonOf(decoded))
    if (decoded.kind === 'event') {
      const partition = partitionOf(decoded.key, environment.partitions)
      const entry: EventEntry = {
        kind: 'event',
        source: { source, offset: record.offset, index: 0 },
        event: decoded.event,
      }
      const accepted = byPartition.get(partition)
      if (accepted === undefined) byPartition.set(partition, [{ entry, record }])
      else accepted.push({ entry, record })
    } else if (decoded.kind === 'rejected') {
      sent.push(reject(record, decoded.code, decoded.message))
    }
  }
  tally.tell((result, reason, times) => environment.onDecoded(batch.topic, result, reason, times))
  for (const [partition, accepted] of byPartition) {
    sent.push(append(environment.journalWriter(processor.name, partition), accepted, reject))
  }
  await Promise.all(sent)
}

/** Fails only with what is worth a retry: what else a decoder throws must not stop the partition. */
function decode(input: Input, record: LogRecord): Decoded | Promise<Decoded> {
  if (recordBytes(record) > MAX_INPUT_BYTES) return tooLarge
  try {
    const decoded = input.decode(record)
    return decoded instanceof Promise ? decoded.catch(undecodable) : decoded
  } catch (thrown) {
    return undecodable(thrown)
  }
}

function undecodable(thrown: unknown): Decoded {
  if (isWorthRetry(thrown)) throw thrown
  return { kind: 'rejected', code: 'DECODE_FAILED', message: cut(ensureError(thrown).message, 200) }
}

/** All at once; one by one when the journal does not take one of them, so that this one alone is rejected. */
async function append(
  writer: JournalWriter,
  accepted: readonly Accepted[],
  reject: (record: LogRecord, code: string, message: string) => Promise<unknown>,
): Promise<void> {
  try {
    await writer.append(accepted.map(({ entry }) => entry))
  } catch (thrown) {
    if (isWorthRetry(thrown) || isClosed(thrown)) throw thrown
    for (const { entry, record } of accepted) {
      await writer.append([entry]).catch(async (refusal: unknown) => {
        if (isWorthRetry(refusal) || isClosed(refusal)) throw refusal
        await reject(record, 'EVENT_REFUSED', cut(ensureError(refusal).message, 200))
      })
    }
  }
}

const isClosed = (error: unknown): boolean => error instanceof LogError && error.code === 'LOG_CLOSED'

const tooLarge: Decoded = {
  kind: 'rejected',
  code: 'RECORD_TOO_LARGE',
  message: `the record is larger than ${MAX_INPUT_BYTES} bytes`,
}

function reasonOf(decoded: Exclude<Decoded, { kind: 'event' }>): string {
  return decoded.kind === 'skipped' ? decoded.reason : decoded.code
}
