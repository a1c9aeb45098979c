import fc from 'fast-check'
import t from 'tap'
import { manualClock } from '../../common/manual-clock.js'
import { countingProcessor } from '../counting-processor.js'
import { LogError } from '../log/errors.js'
import type { Log, NewRecord } from '../log/log.js'
import { blockCodec } from './block-codec.js'
import type { EventEntry, JournalEntry, NewEntry } from './entry.js'
import { journalWriter } from './journal-writer.js'
import type { JournalWriterOptions } from './journal-writer.js'

const codec = blockCodec(countingProcessor.events)
const MAX_BYTES = 1_000_000

const event = (key: string, more: Partial<NewEntry> = {}): NewEntry =>
  ({ kind: 'event', event: { type: 'Counted', data: { key, mode: '' } }, ...more }) as NewEntry
const keyOf = (entry: JournalEntry): string =>
  entry.kind === 'event' ? (entry.event.data as { key: string }).key : entry.kind

function subject(more: Partial<JournalWriterOptions> = {}) {
  const records: NewRecord[] = []
  const failures: Error[] = []
  const clock = manualClock()
  const log = {
    append(_topic: string, _partition: number, appended: readonly NewRecord[]) {
      const failure = failures.shift()
      if (failure !== undefined) return Promise.reject(failure)
      if (appended.some(({ value }) => (value?.length ?? 0) > MAX_BYTES)) {
        return Promise.reject(new LogError('RECORD_TOO_LARGE', 'too large'))
      }
      const baseOffset = records.push(...appended) - appended.length
      return Promise.resolve({ baseOffset, timestamp: 0 })
    },
    offsets: () => Promise.resolve({ start: 0, end: records.length }),
  } as unknown as Log
  const writer = journalWriter({ log, clock, topic: 'journal', partition: 0, codec, source: 'http/me', ...more })
  const blocks = (): JournalEntry[][] => records.map(({ value }) => codec.decode(value!))
  return { writer, records, blocks, failures, clock }
}

t.test('entries without a source are numbered in the order of the calls', async (t) => {
  const { writer, blocks } = subject()
  const given = { source: 'count-me/0@x', offset: 77, index: 1 }
  const positions = await Promise.all([
    writer.append([event('a'), event('b', { source: given })]),
    writer.append([{ kind: 'timer', due: 1, id: 'x', epoch: 1 }]),
    writer.append([event('c')]),
  ])
  t.same(positions, [
    [
      { offset: 0, index: 0 },
      { offset: 0, index: 1 },
    ],
    [{ offset: 0, index: 2 }],
    [{ offset: 0, index: 3 }],
  ])
  const own = (offset: number): object => ({ source: 'http/me', offset, index: 0 })
  t.same(
    blocks()
      .flat()
      .map(({ source }) => source),
    [own(0), given, own(1), own(2)],
  )
})

t.test('a block holds at most 1000 entries; positions lead to them', async (t) => {
  const { writer, blocks } = subject()
  const positions = await writer.append(Array.from({ length: 2500 }, (_, i) => event(`key ${i}`)))
  t.same(
    blocks().map((block) => block.length),
    [1000, 1000, 500],
  )
  for (const i of [0, 999, 1000, 2499]) {
    const { offset, index } = positions[i]!
    t.equal(keyOf(blocks()[offset]![index]!), `key ${i}`)
  }
})

t.test('whatever the sizes are, no block is larger than a log takes, and all entries stand in order', async () => {
  const text = fc.oneof(
    fc.constantFrom('', 'a', '字'),
    fc.tuple(fc.constantFrom('a', '字', '😀'), fc.integer({ min: 1, max: 120_000 })).map(([c, n]) => c.repeat(n)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(text, { maxLength: 12 }), { maxLength: 6 }), async (calls) => {
      const { writer, records, blocks } = subject()
      const appended = await Promise.all(
        calls.map((keys) =>
          writer.append(
            keys.map((key) => event('k', { original: { key: null, value: Buffer.from(key), headers: [] } })),
          ),
        ),
      )
      for (const { value } of records)
        if (value!.length > MAX_BYTES) throw new Error(`a block of ${value!.length} bytes`)
      const stored = blocks()
      for (const [call, keys] of calls.entries()) {
        for (const [i, key] of keys.entries()) {
          const { offset, index } = appended[call]![i]!
          const entry = stored[offset]?.[index]
          if (entry?.kind !== 'event' || entry.original?.value?.toString() !== key)
            throw new Error('another entry there')
        }
      }
      const numbers = stored.flat().map(({ source }) => source.offset)
      if (numbers.some((number, i) => number !== i)) throw new Error(`numbered ${numbers.join()}`)
    }),
    { seed: 5, numRuns: 60 },
  )
})

t.test('a block that comes out larger than thought is halved until it fits', async (t) => {
  const { writer, blocks } = subject()
  // Texts are counted in characters; these take three bytes each.
  await writer.append(Array.from({ length: 900 }, () => event('字'.repeat(560))))
  t.ok(blocks().length > 1)
  t.equal(blocks().flat().length, 900)
})

t.test('an entry that no log takes is refused alone', async (t) => {
  const { writer, blocks } = subject()
  const results = await Promise.allSettled([
    writer.append([event('a')]),
    writer.append([event('x'.repeat(MAX_BYTES + 1))]),
    writer.append([event('b')]),
  ])
  t.match(results, [
    { status: 'fulfilled' },
    { status: 'rejected', reason: { code: 'RECORD_TOO_LARGE' } },
    { status: 'fulfilled' },
  ])
  t.same(blocks().flat().map(keyOf), ['a', 'b'])
})

t.test('an event that does not fit its schema is refused alone', async (t) => {
  const { writer, blocks } = subject()
  const wrong = { kind: 'event', event: { type: 'Counted', data: { key: 5 } } } as NewEntry
  const results = await Promise.allSettled([
    writer.append([event('a')]),
    writer.append([wrong]),
    writer.append([event('b')]),
  ])
  t.same(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  )
  t.same(blocks().flat().map(keyOf), ['a', 'b'])
})

t.test('a failed append is made again with the same numbers, before later ones', async (t) => {
  const { writer, blocks, failures, clock } = subject()
  failures.push(new LogError('LOG_UNAVAILABLE', 'no broker'))
  const first = writer.append([event('a')])
  await clock.advance(0)
  const second = writer.append([event('b')])
  await clock.advance(200)
  await Promise.all([first, second])
  t.same(
    blocks().map((block) => block.map((entry) => [keyOf(entry), entry.source.offset])),
    [[['a', 0]], [['b', 1]]],
  )
})

t.test('a journal begins with a term, whoever is the first to append', async (t) => {
  const firstTerm = { foldVersion: 3, settings: { limit: 7 } }
  const sent = { source: 'journal/j/1', offset: 5, index: 0 }
  const another = subject({ firstTerm })
  another.failures.push(new LogError('LOG_UNAVAILABLE', 'away'))
  const positions = Promise.all([
    another.writer.append([event('a', { source: sent })]),
    another.writer.append([event('b')]),
  ])
  await another.clock.advance(1000)
  t.same(await positions, [[{ offset: 1, index: 0 }], [{ offset: 1, index: 1 }]])
  await another.writer.append([event('c')])
  t.same(another.blocks().flat().map(keyOf), ['owner', 'a', 'b', 'c'])
  t.match(another.blocks()[0], [{ kind: 'owner', epoch: 1, foldVersion: 3, settings: '{"limit":7}', preloaded: false }])
  t.equal(
    new Set(
      another
        .blocks()
        .flat()
        .map(({ source }) => `${source.source}/${source.offset}`),
    ).size,
    4,
  )

  const owner = subject({ firstTerm })
  const term = { epoch: 1, foldVersion: 3, settings: '{}', preloaded: false, instance: 'me' }
  await owner.writer.append([{ kind: 'owner', ...term }])
  await owner.writer.append([event('a')])
  t.same(owner.blocks().flat().map(keyOf), ['owner', 'a'])
})

t.test('what is collected goes out in blocks within bounds, in its turn, without what does not fit', async (t) => {
  const { writer, blocks, records } = subject()
  const from = (offset: number, key: unknown): EventEntry => ({
    kind: 'event',
    source: { source: 'count-me/0@x', offset, index: 0 },
    event: { type: 'Counted', data: { key, mode: '' } },
  })
  const many = writer.collect()
  for (let i = 0; i < 2100; i++) many.add(from(i, `${i}`))
  t.throws(() => many.add(from(2100, 5)), TypeError)
  const large = writer.collect()
  for (let i = 0; i < 4; i++) large.add(from(3000 + i, 'x'.repeat(200_000)))
  t.equal(records.length, 0, 'nothing goes before it is asked for')
  const [, , , [after]] = await Promise.all([
    writer.append([event('first')]),
    many.append(),
    large.append(),
    writer.append([event('last')]),
    writer.collect().append(),
  ])
  t.same(
    blocks().map((block) => block.length),
    [1, 1000, 1000, 100, 2, 2, 1],
  )
  t.same(after, { offset: 6, index: 0 })
  const offsets = blocks()
    .slice(1, -1)
    .flat()
    .map(({ source }) => source.offset)
  t.same(offsets, [...Array(2100).keys(), 3000, 3001, 3002, 3003])

  const refused = writer.collect()
  refused.add(from(4000, 'x'.repeat(MAX_BYTES + 1)))
  await t.rejects(refused.append(), { code: 'RECORD_TOO_LARGE' })
})
