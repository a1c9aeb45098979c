import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { countingProcessor } from '../counting-processor.js'
import { EngineError } from '../errors.js'
import { avroType } from '../../schemas/avro.js'
import { blockCodec } from './block-codec.js'
import { blockSchema } from './block-schema.js'
import type { JournalEntry } from './entry.js'

const codec = blockCodec(countingProcessor.events)
const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const position = fc.nat({ max: 2 ** 52 })
const bytes = fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array))
const source = fc.record({
  source: fc.constantFrom('hb/0@x', 'http/a', 'journal/j/1', ''),
  offset: position,
  index: fc.nat({ max: 2 ** 31 - 1 }),
})
const original = fc.record({
  key: fc.option(bytes),
  value: fc.option(bytes),
  headers: fc.array(fc.tuple(fc.oneof(text, fc.constantFrom('__proto__', 'constructor')), bytes), { maxLength: 3 }),
})
const event = fc.record(
  {
    kind: fc.constant('event' as const),
    source,
    event: fc.record({ type: fc.constant('Counted'), data: fc.record({ key: text, mode: text }) }),
    commandId: text,
    effectId: text,
    actor: text,
    reason: text,
    original,
  },
  { requiredKeys: ['kind', 'source', 'event'] },
)
const timer = fc.record({ kind: fc.constant('timer' as const), source, due: position, id: text, epoch: position })
const owner = fc.record(
  {
    kind: fc.constant('owner' as const),
    source,
    epoch: position,
    foldVersion: fc.nat({ max: 2 ** 31 - 1 }),
    settings: text,
    preloaded: fc.boolean(),
    instance: text,
    actor: text,
    reason: text,
  },
  { requiredKeys: ['kind', 'source', 'epoch', 'foldVersion', 'settings', 'preloaded', 'instance'] },
)
const entries = fc.array(fc.oneof(event, timer, owner), { maxLength: 20 })

const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, item: unknown) => (Buffer.isBuffer(item) ? item.toString('hex') : item)))

t.test('what is written is read back, of every kind, with and without what is optional', async (t) => {
  fc.assert(
    fc.property(entries, (given) => {
      const read = codec.decode(codec.encode(given))
      if (JSON.stringify(plain(read)) !== JSON.stringify(plain(given))) {
        // The order of members may differ, not what they are.
        t.same(plain(read), plain(given))
      }
    }),
    { seed: 3, numRuns: 500 },
  )
})

t.test('one entry of each kind, member by member', async (t) => {
  const given: readonly JournalEntry[] = [
    {
      kind: 'event',
      source: { source: 's', offset: 1, index: 2 },
      event: { type: 'Counted', data: { key: 'k', mode: 'm' } },
    },
    {
      kind: 'event',
      source: { source: 's', offset: 1, index: 3 },
      event: { type: 'Counted', data: { key: 'k', mode: 'm' } },
      commandId: 'c',
      effectId: 'e',
      actor: 'a',
      reason: 'r',
      original: { key: null, value: Buffer.from('v'), headers: [['__proto__', Buffer.from('h')]] },
    },
    { kind: 'timer', source: { source: 'other', offset: 2 ** 50, index: 0 }, due: 5, id: 'wake', epoch: 3 },
    {
      kind: 'owner',
      source: { source: 's', offset: 0, index: 0 },
      epoch: 9,
      foldVersion: 2,
      settings: '{"a":1}',
      preloaded: true,
      instance: 'me',
    },
  ]
  t.same(plain(codec.decode(codec.encode(given))), plain(given))
})

t.test('a source is named once a block', async (t) => {
  const long = 'x'.repeat(1000)
  const one = (offset: number): JournalEntry => ({
    kind: 'event',
    source: { source: long, offset, index: 0 },
    event: { type: 'Counted', data: { key: 'k', mode: '' } },
  })
  t.ok(codec.encode(Array.from({ length: 100 }, (_, i) => one(i))).length < 3000)
})

t.test('a block of another format version is refused by its number', async (t) => {
  const block = codec.encode([])
  block[0] = 1
  t.throws(() => codec.decode(block), { code: 'BLOCK_UNREADABLE', message: /format version 1, not 2/ })
  t.throws(() => codec.decode(Buffer.alloc(0)), { code: 'BLOCK_UNREADABLE' })
})

t.test('whatever bytes stand in a journal, reading them gives entries or BLOCK_UNREADABLE', async () => {
  const decode = (block: Buffer): void => {
    try {
      codec.decode(block)
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== 'BLOCK_UNREADABLE') throw error
    }
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (array) => decode(Buffer.concat([Buffer.of(2), Buffer.from(array)]))),
    { seed: 4, numRuns: 2000 },
  )
  const changed = fc.tuple(entries, fc.nat(), fc.nat({ max: 255 }), fc.nat())
  fc.assert(
    fc.property(changed, ([given, at, byte, cutAt]) => {
      const block = codec.encode(given)
      block[at % block.length] = byte
      decode(block)
      decode(block.subarray(0, cutAt % block.length))
    }),
    { seed: 4, numRuns: 2000 },
  )
})

t.test('a long block gives its entries one by one, each once, and only when all of it can be read', async (t) => {
  const given = Array.from({ length: 500 }, (_, offset): JournalEntry => {
    if (offset % 7 === 0)
      return { kind: 'timer', source: { source: 't', offset, index: 0 }, due: offset, id: 'w', epoch: 1 }
    return {
      kind: 'event',
      source: { source: `s${offset % 3}`, offset, index: 0 },
      event: { type: 'Counted', data: { key: 'k'.repeat(50), mode: 'm' } },
      ...(offset % 5 === 0 && { actor: 'a', reason: 'r' }),
    }
  })
  const block = codec.encode(given)
  t.ok(block.length > 16 * 1024)
  const lazily = codec.decodeLazily(block)
  t.notOk(Array.isArray(lazily), 'none is held')
  t.same(plain([...lazily]), plain(given))
  // With a right checksum, as another version would write it.
  const signed = (bytes: Buffer): Buffer => {
    bytes.writeUInt32LE(crc32(bytes.subarray(5)), 1)
    return bytes
  }
  const longer = signed(Buffer.concat([block, Buffer.of(0)]))
  const unknownSource = Buffer.from(block)
  const lastEntry = unknownSource.lastIndexOf('k'.repeat(50))
  unknownSource[lastEntry - 1] = 0x7e
  for (const [name, wrong] of [
    ['cut off', signed(Buffer.from(block.subarray(0, block.length - 10)))],
    ['with something behind', longer],
    ['with a text that reaches beyond', signed(unknownSource)],
    ['with another checksum', Buffer.concat([block, Buffer.of(0)])],
  ] as const) {
    t.throws(() => codec.decodeLazily(wrong), { code: 'BLOCK_UNREADABLE' }, name)
    t.throws(() => codec.decode(wrong), { code: 'BLOCK_UNREADABLE' }, name)
  }
})

t.test('an event that does not fit its schema, or of no known type, cannot be written', async (t) => {
  const entry = (type: string, data: object): JournalEntry => ({
    kind: 'event',
    source: { source: 's', offset: 0, index: 0 },
    event: { type, data },
  })
  for (const wrong of [entry('Counted', { key: 5, mode: '' }), entry('Counted', {}), entry('Other', {})]) {
    t.throws(() => codec.encode([wrong]))
  }
})

t.test('behind version and checksum a block is Avro by its schema, and what avsc writes by that is read', async () => {
  const type = avroType(blockSchema(Object.values(countingProcessor.events)))
  fc.assert(
    fc.property(entries, (given) => {
      const block = codec.encode(given)
      const written = type.toBuffer(type.fromBuffer(block.subarray(5)))
      if (!written.equals(block.subarray(5))) throw new Error('avsc writes other bytes')
    }),
    { seed: 6, numRuns: 300 },
  )
})

t.test('what a builder refuses leaves the block as it was', async (t) => {
  const entry = (key: unknown): JournalEntry => ({
    kind: 'event',
    source: { source: 's', offset: 7, index: 0 },
    event: { type: 'Counted', data: { key, mode: '' } },
  })
  const builder = codec.builder()
  builder.add(entry('a'))
  t.throws(() => builder.add(entry(5)))
  builder.add(entry('b'))
  t.equal(builder.entries, 2)
  t.ok(builder.finish().equals(codec.encode([entry('a'), entry('b')])))
})
