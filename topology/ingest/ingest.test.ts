import t from 'tap'
import { countingProcessor } from '../counting-processor.js'
import type { Counted } from '../counting-processor.js'
import type { NewEntry } from '../journal/entry.js'
import type { JournalBlocks } from '../journal/journal-writer.js'
import { LogError } from '../log/errors.js'
import type { LogRecord, RecordBatch } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { Input, Processor } from '../processor.js'
import type { DeadLetter } from './dead-letters.js'
import { ingest } from './ingest.js'

const PARTITIONS = 4
const unavailable = new LogError('LOG_UNAVAILABLE', 'no registry')

const batch = (values: readonly (string | null)[], more: Partial<LogRecord> = {}): RecordBatch => ({
  topic: 'count-me',
  partition: 3,
  records: values.map((value, i) => ({
    offset: 10 + i,
    timestamp: 5,
    key: null,
    value: value === null ? null : Buffer.from(value),
    headers: [],
    ...more,
  })),
  next: 10 + values.length,
  end: 99,
})

const input = countingProcessor.inputs[0]!

function subject(decode: Input['decode'] = (record) => input.decode(record)) {
  const appended: { partition: number; key: string; offset: number; source: string }[] = []
  const letters: DeadLetter[] = []
  const decoded: string[] = []
  const refuse = { append: (_entries: readonly NewEntry[]): Error | undefined => undefined }
  const processor: Processor = countingProcessor
  const environment = {
    partitions: PARTITIONS,
    journalWriter(_domain: string, partition: number) {
      async function append(entries: readonly NewEntry[]): Promise<[]> {
        const refusal = refuse.append(entries)
        if (refusal !== undefined) throw refusal
        for (const entry of entries) {
          if (entry.kind !== 'event') continue
          const { source, offset } = entry.source!
          appended.push({ partition, key: (entry.event as Counted).data.key, offset, source })
        }
        return Promise.resolve([])
      }
      function collect(): JournalBlocks {
        const entries: NewEntry[] = []
        return {
          add(entry) {
            if ((entry.event as Counted).data.mode === 'misfit') throw new TypeError('5 is no string')
            entries.push(entry)
          },
          async append() {
            await append(entries)
          },
        }
      }
      return { append, collect, stop: () => undefined }
    },
    sendDeadLetter(letter: DeadLetter) {
      letters.push(letter)
      return Promise.resolve()
    },
    onDecoded: (_topic: string, result: string, reason: string, times: number) =>
      decoded.push(`${times} ${result} ${reason}`.trim()),
  }
  const route = { processor, input: { ...input, decode }, incarnation: 'x1' }
  return { appended, letters, decoded, refuse, run: (of: RecordBatch) => ingest(environment, route, of) }
}

t.test('events go to the partition of their key, in order, with their source position', async (t) => {
  const { run, appended, decoded } = subject()
  await run(batch(['a', 'b', 'c', 'a:send']))
  t.same(appended.map(({ key, offset }) => `${key} ${offset}`).sort(), ['a 10', 'a 13', 'b 11', 'c 12'])
  for (const { key, partition, source } of appended) {
    t.equal(partition, partitionOf(key, PARTITIONS))
    t.equal(source, 'count-me/3@x1')
  }
  t.same(decoded, ['4 event'])
})

t.test('what is not accepted is dead-lettered with its place, or counted; the rest goes on', async (t) => {
  const { run, appended, letters, decoded } = subject()
  await run(batch(['a', '', 'skip', null, 'b']))
  t.same(appended.map(({ key }) => key).sort(), ['a', 'b'])
  t.same(
    letters.map(({ topic, partition, offset, code }) => `${topic}/${partition}/${offset} ${code}`),
    ['count-me/3/11 EMPTY', 'count-me/3/13 EMPTY'],
  )
  t.same(decoded, ['2 event', '2 rejected EMPTY', '1 skipped asked for'])
})

t.test('ME-10 a record too large to be sent on is refused before it is decoded', async (t) => {
  const { run, letters } = subject(() => {
    throw new Error('must not be called')
  })
  const header = ['x', Buffer.alloc(600_000)] as const
  await run(batch(['x'.repeat(500_000)], { headers: [header] }))
  t.match(letters, [{ code: 'RECORD_TOO_LARGE', offset: 10 }])
})

t.test('IV-01 whatever a decoder throws, the record is dead-lettered and the partition goes on', async (t) => {
  for (const thrown of [new SyntaxError('Unexpected token'), new TypeError('x is null'), new RangeError('too deep')]) {
    for (const isAsync of [false, true]) {
      const { run, letters, appended } = subject(({ value }) => {
        if (value?.toString() !== 'bad')
          return { kind: 'event', key: 'a', event: { type: 'Counted', data: { key: 'a', mode: '' } } }
        if (isAsync) return Promise.reject(thrown)
        throw thrown
      })
      await run(batch(['a', 'bad', 'a']))
      t.match(letters, [{ code: 'DECODE_FAILED', offset: 11 }])
      t.equal(appended.length, 2)
    }
  }
})

t.test('a registry that does not answer: the batch comes again, and nothing is doubled', async (t) => {
  let fails = true
  const { run, appended, letters, decoded } = subject((record) => {
    if (record.value?.toString() === 'late' && fails) return Promise.reject(unavailable)
    return input.decode(record)
  })
  const given = batch(['a', '', 'late', ''])
  await t.rejects(run(given), unavailable)
  t.same([appended, letters, decoded], [[], [], []], 'nothing was sent or counted')
  fails = false
  await run(given)
  t.equal(appended.length, 2)
  t.equal(letters.length, 2)
})

t.test('an event that the journal does not take is rejected alone', async (t) => {
  const { run, refuse, appended, letters } = subject()
  const tooLarge = new LogError('RECORD_TOO_LARGE', 'a record of 2000000 bytes')
  refuse.append = (entries) =>
    entries.some((entry) => entry.kind === 'event' && (entry.event as Counted).data.key === 'huge')
      ? tooLarge
      : undefined
  await run(batch(['a', 'huge', 'a', 'b']))
  t.same(appended.map(({ key, offset }) => `${key} ${offset}`).sort(), ['a 10', 'a 12', 'b 13'])
  t.match(letters, [{ code: 'EVENT_REFUSED', offset: 11, message: /2000000 bytes/ }])
})

t.test('an event that does not fit its schema is rejected alone', async (t) => {
  const { run, appended, letters } = subject()
  await run(batch(['a', 'a:misfit', 'b']))
  t.same(appended.map(({ key, offset }) => `${key} ${offset}`).sort(), ['a 10', 'b 12'])
  t.match(letters, [{ code: 'EVENT_REFUSED', offset: 11, message: /no string/ }])
})

t.test('a journal that is not there now: the batch comes again', async (t) => {
  for (const error of [unavailable, new LogError('LOG_CLOSED', 'closed')]) {
    const { run, refuse, letters } = subject()
    refuse.append = () => error
    await t.rejects(run(batch(['a'])), error)
    t.same(letters, [])
  }
})
