import type { DeadLetter } from '../ingest/dead-letters.js'
import type { DeadLetterProblem, EventPosition, InputRecord } from '../processor.js'
import type { TaskEnvironment } from './environment.js'

const NOTHING: InputRecord = { key: null, value: null, headers: [], timestamp: -1 }

/**
 * Finds the original of a journal event by its position: in the input topic that it came from, or beside it in the journal.
 * Where retention has taken it meanwhile the dead letter goes without, and its message says so.
 */
export async function findOriginal(
  environment: TaskEnvironment,
  problem: DeadLetterProblem,
  position: EventPosition,
): Promise<{ readonly letter: DeadLetter; readonly original: InputRecord }> {
  const { log, codec, journalTopic, partition } = environment
  const inJournal: DeadLetter = { topic: journalTopic, partition, offset: position.offset, ...problem }
  const lost = (): { letter: DeadLetter; original: InputRecord } => ({
    letter: { ...inJournal, message: `${problem.message} (the original is no longer in the log)` },
    original: NOTHING,
  })
  const { start } = await log.offsets({ topic: journalTopic, partition })
  if (position.offset < start) return lost()
  const [record] = (await log.read({ topic: journalTopic, partition }, position.offset, { maxRecords: 1 })).records
  const entry = record?.value == null ? undefined : codec.decode(record.value)[position.index]
  if (record === undefined || entry === undefined) return lost()
  // A deadline has no original.
  if (entry.kind !== 'event') return { letter: inJournal, original: NOTHING }
  if (entry.original !== undefined) {
    return { letter: inJournal, original: { ...entry.original, timestamp: record.timestamp } }
  }
  const source = /^(.+)\/(\d+)@/.exec(entry.source.source)
  if (source?.[1] === undefined) return { letter: inJournal, original: NOTHING }
  const from = { topic: source[1], partition: Number(source[2]) }
  const letter: DeadLetter = { ...from, offset: entry.source.offset, ...problem }
  const offsets = await log.offsets(from)
  if (letter.offset < offsets.start || letter.offset >= offsets.end)
    return { ...lost(), letter: { ...lost().letter, ...from, offset: letter.offset } }
  const [original] = (await log.read(from, letter.offset, { maxRecords: 1 })).records
  return original === undefined ? { ...lost(), letter } : { letter, original }
}
