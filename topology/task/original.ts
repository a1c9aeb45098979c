import type { DeadLetter } from '../ingest/dead-letters.js'
import type { BlockCodec } from '../journal/block-codec.js'
import type { JournalEntry } from '../journal/entry.js'
import type { LogRecord } from '../log/log.js'
import type { DeadLetterProblem, EventPosition, InputRecord } from '../processor.js'
import { isWorthRetry } from '../retry.js'
import type { TaskEnvironment } from './environment.js'

const NOTHING: InputRecord = { key: null, value: null, headers: [], timestamp: -1 }

/**
 * Finds the original of a journal event by its position: in the input topic that it came from, or beside it in the journal.
 * Where retention has taken it meanwhile the dead letter goes without, and its message says so. Rejects only with what is
 * worth another try.
 */
export async function findOriginal(
  environment: TaskEnvironment,
  problem: DeadLetterProblem,
  position: EventPosition,
): Promise<{ readonly letter: DeadLetter; readonly original: InputRecord }> {
  const { codec, journalTopic, partition } = environment
  const inJournal: DeadLetter = { topic: journalTopic, partition, offset: position.offset, ...problem }
  const record = await readRecord(environment, inJournal)
  const entry = record?.value == null ? undefined : entriesOf(codec, record.value)[position.index]
  if (record === undefined || entry === undefined) return lost(inJournal)
  // A deadline has no original.
  if (entry.kind !== 'event') return { letter: inJournal, original: NOTHING }
  if (entry.original !== undefined) {
    return { letter: inJournal, original: { ...entry.original, timestamp: record.timestamp } }
  }
  const source = /^(.+)\/(\d+)@([^+]*)/.exec(entry.source.source)
  if (source?.[1] === undefined) return { letter: inJournal, original: NOTHING }
  const letter = { ...inJournal, topic: source[1], partition: Number(source[2]), offset: entry.source.offset }
  // In a topic made anew another record may have its place.
  const isThere = (await environment.log.topic(source[1]))?.incarnation === source[3]
  const original = isThere ? await readRecord(environment, letter) : undefined
  return original === undefined ? lost(letter) : { letter, original }
}

function entriesOf(codec: BlockCodec, block: Buffer): readonly JournalEntry[] {
  try {
    return codec.decode(block)
  } catch {
    // A foreign record in a journal: folding it has said so.
    return []
  }
}

function lost(letter: DeadLetter): { letter: DeadLetter; original: InputRecord } {
  return {
    letter: { ...letter, message: `${letter.message} (the original is no longer in the log)` },
    original: NOTHING,
  }
}

/** The record at exactly this offset; undefined when the log no longer has it, or no longer has the topic. */
async function readRecord({ log }: TaskEnvironment, place: DeadLetter): Promise<LogRecord | undefined> {
  const { topic, partition, offset } = place
  try {
    const { start, end } = await log.offsets({ topic, partition })
    if (offset < start || offset >= end) return undefined
    const [record] = (await log.read({ topic, partition }, offset, { maxRecords: 1 })).records
    return record?.offset === offset ? record : undefined
  } catch (thrown) {
    if (isWorthRetry(thrown)) throw thrown
    return undefined
  }
}
