import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { countingProcessor } from '../counting-processor.js'
import { blockCodec } from '../journal/block-codec.js'
import type { JournalEntry } from '../journal/entry.js'
import { openEmbeddedLogAt } from '../log/embedded/embedded-log.js'
import type { EmbeddedLog } from '../log/embedded/embedded-log.js'
import { LogError } from '../log/errors.js'
import type { Log } from '../log/log.js'
import type { TaskEnvironment } from './environment.js'
import { findOriginal } from './original.js'

const JOURNAL = 'journal'
const codec = blockCodec(countingProcessor.events)
const event = { type: 'Counted', data: { key: 'a', mode: '' } }
const problem = { code: 'NOT_WANTED', message: 'not wanted' }
const kept = { key: Buffer.from('k'), value: Buffer.from('over HTTP'), headers: [['ce_id', Buffer.from('x')] as const] }

/** Input record 3 of partition 1 and the journal's record 0, whose entries lead to it or elsewhere. */
async function filledLog(): Promise<EmbeddedLog> {
  const log = await openEmbeddedLogAt(memoryProvider(), 'log', {
    clock: manualClock(),
    newIncarnation: () => 'x',
    onCleanError: () => undefined,
  })
  const topic = (name: string): Parameters<Log['createTopics']>[0][number] => ({
    name,
    partitions: 2,
    cleanup: 'delete',
    retentionMs: -1,
    retentionBytes: -1,
    timestampType: 'LogAppendTime',
  })
  await log.createTopics([topic(JOURNAL), topic('odd/name')])
  for (let i = 0; i < 5; i++) {
    await log.append('odd/name', 1, [{ key: Buffer.from(`key ${i}`), value: Buffer.from(`value ${i}`) }])
  }
  const source = (name: string, offset = 3): JournalEntry['source'] => ({ source: name, offset, index: 0 })
  const entries: JournalEntry[] = [
    { kind: 'event', event, source: source('odd/name/1@x') },
    { kind: 'event', event, source: source('http/a'), original: kept },
    { kind: 'event', event, source: source('journal/journal/0') },
    { kind: 'timer', due: 1, id: 'wake', epoch: 1, source: source('http/a') },
    { kind: 'event', event, source: source('odd/name/1@x', 99) },
    { kind: 'event', event, source: source('no-more/1@x') },
    { kind: 'event', event, source: source('odd/name/1@x+2') },
    { kind: 'event', event, source: source('odd/name/1@former') },
  ]
  await log.append(JOURNAL, 0, [{ key: null, value: codec.encode(entries) }])
  await log.append(JOURNAL, 0, [{ key: null, value: Buffer.from('no block') }])
  return log
}

const environmentOf = (log: Log): TaskEnvironment =>
  ({ log, codec, journalTopic: JOURNAL, partition: 0 }) as unknown as TaskEnvironment

const inJournal = { topic: JOURNAL, partition: 0, offset: 0, ...problem }
const gone = 'not wanted (the original is no longer in the log)'

t.test('the original is found by the place of its event', async (t) => {
  const log = await filledLog()
  const cases: readonly (readonly [what: string, index: number, letter: object, value: string | null])[] = [
    ['an input record', 0, { ...problem, topic: 'odd/name', partition: 1, offset: 3 }, 'value 3'],
    ['kept in the journal', 1, inJournal, 'over HTTP'],
    ['sent by a fold: none', 2, inJournal, null],
    ['a deadline: none', 3, inJournal, null],
    ['beyond the input', 4, { topic: 'odd/name', partition: 1, offset: 99, message: gone }, null],
    ['an input topic that is gone', 5, { topic: 'no-more', partition: 1, offset: 3, message: gone }, null],
    ['read once more', 6, { topic: 'odd/name', partition: 1, offset: 3 }, 'value 3'],
    ['an input topic made anew', 7, { topic: 'odd/name', partition: 1, offset: 3, message: gone }, null],
    ['no such entry', 8, { ...inJournal, message: gone }, null],
  ]
  for (const [what, index, letter, value] of cases) {
    const found = await findOriginal(environmentOf(log), problem, { offset: 0, index })
    t.match(found.letter, letter, what)
    t.equal(found.original.value?.toString() ?? null, value, what)
  }
  t.match(await findOriginal(environmentOf(log), problem, { offset: 1, index: 0 }), {
    letter: { ...inJournal, offset: 1, message: gone },
  })
  t.match(await findOriginal(environmentOf(log), problem, { offset: 77, index: 0 }), {
    letter: { ...inJournal, offset: 77, message: gone },
  })
})

t.test('an input that retention has taken: the letter says so', async (t) => {
  const log = await filledLog()
  await log.deleteBefore({ topic: 'odd/name', partition: 1 }, 4)
  t.match(await findOriginal(environmentOf(log), problem, { offset: 0, index: 0 }), {
    letter: { topic: 'odd/name', partition: 1, offset: 3, message: gone },
    original: { key: null, value: null, headers: [] },
  })
})

t.test('a log that cannot be read now is worth another try', async (t) => {
  const log = await filledLog()
  const unavailable = new LogError('LOG_UNAVAILABLE', 'no broker')
  const environment = environmentOf({
    ...log,
    offsets: (partition) => log.offsets(partition),
    read: () => Promise.reject(unavailable),
  })
  await t.rejects(findOriginal(environment, problem, { offset: 0, index: 0 }), unavailable)
})
