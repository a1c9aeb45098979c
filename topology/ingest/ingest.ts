import { cut, ensureError } from '../../common/errors.js'
import type { EventEntry } from '../journal/entry.js'
import type { JournalBlocks, JournalWriter } from '../journal/journal-writer.js'
import { LogError } from '../log/errors.js'
import type { DeliveredBatch, LogRecord } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { Decoded, Input, JournalEvent, Processor } from '../processor.js'
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

interface Refused {
  readonly record: LogRecord
  readonly code: string
  readonly message: string
}

/**
 * Takes a batch of an input topic into the journal: decode, re-key, append; what cannot be accepted goes to the dead letters.
 * Resolves when all of it is acknowledged, so the source position may move past it. Rejects (and the batch comes again) only
 * for what is worth a retry; what had been appended already is then dropped by the fold as a repeat.
 */
export async function ingest(environment: IngestEnvironment, route: Route, batch: DeliveredBatch): Promise<void> {
  const { processor, input, incarnation } = route
  const source = `${batch.topic}/${batch.partition}@${incarnation}`
  const byPartition = new Map<number, JournalBlocks>()
  const refused: Refused[] = []
  const tally = new Tally()
  // All is decoded before any of it is sent: a batch that comes again has left no dead letters behind. What is decoded is
  // written down at once, so that neither records nor events are held.
  for (const record of batch.records) {
    const outcome = decode(input, record)
    const decoded = outcome instanceof Promise ? await outcome : outcome
    tally.add(decoded.kind, decoded.kind === 'event' ? '' : reasonOf(decoded))
    if (decoded.kind === 'rejected') refused.push({ record, ...decoded })
    if (decoded.kind !== 'event') continue
    const partition = partitionOf(decoded.key, environment.partitions)
    let blocks = byPartition.get(partition)
    if (blocks === undefined) {
      blocks = environment.journalWriter(processor.name, partition).collect()
      byPartition.set(partition, blocks)
    }
    try {
      blocks.add(entryOf(source, record, decoded.event))
    } catch (thrown) {
      refused.push({ record, ...refusalOf(thrown) })
    }
  }
  tally.tell((result, reason, times) => environment.onDecoded(batch.topic, result, reason, times))
  const reject = ({ record, code, message }: Refused): Promise<unknown> =>
    environment.sendDeadLetter(
      { topic: batch.topic, partition: batch.partition, offset: record.offset, code, message },
      record,
    )
  const appended = [...byPartition].map(([partition, blocks]) =>
    blocks.append().catch(async (thrown: unknown) => {
      if (isWorthRetry(thrown) || isClosed(thrown)) throw thrown
      // The journal does not take one of them: that one alone is rejected.
      for (const record of batch.records) {
        const decoded = await decode(input, record)
        if (decoded.kind !== 'event' || partitionOf(decoded.key, environment.partitions) !== partition) continue
        const writer = environment.journalWriter(processor.name, partition)
        await writer.append([entryOf(source, record, decoded.event)]).catch(async (refusal: unknown) => {
          if (isWorthRetry(refusal) || isClosed(refusal)) throw refusal
          await reject({ record, ...refusalOf(refusal) })
        })
      }
    }),
  )
  await Promise.all([...refused.map(reject), ...appended])
}

function entryOf(source: string, { offset }: LogRecord, event: JournalEvent): EventEntry {
  return { kind: 'event', source: { source, offset, index: 0 }, event }
}

function refusalOf(thrown: unknown): { readonly code: string; readonly message: string } {
  return { code: 'EVENT_REFUSED', message: cut(ensureError(thrown).message, 200) }
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

const isClosed = (error: unknown): boolean => error instanceof LogError && error.code === 'LOG_CLOSED'

const tooLarge: Decoded = {
  kind: 'rejected',
  code: 'RECORD_TOO_LARGE',
  message: `the record is larger than ${MAX_INPUT_BYTES} bytes`,
}

function reasonOf(decoded: Exclude<Decoded, { kind: 'event' }>): string {
  return decoded.kind === 'skipped' ? decoded.reason : decoded.code
}
