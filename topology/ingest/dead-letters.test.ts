import t from 'tap'
import type { Headers, NewRecord } from '../log/log.js'
import type { InputRecord } from '../processor.js'
import { deadLetterPartition, deadLetterRecord } from './dead-letters.js'
import { MAX_RECORD_BYTES, recordBytes } from './record-bytes.js'

const letter = { topic: 'hb', partition: 3, offset: 17, code: 'EMPTY', message: 'the value is empty' }
const original = (more: Partial<InputRecord> = {}): InputRecord => ({
  key: Buffer.from('key'),
  value: Buffer.from([0, 255, 1]),
  headers: [['ce_id', Buffer.from('dev-1')]],
  timestamp: 5,
  ...more,
})
const headersOf = (record: NewRecord): [string, string][] =>
  (record.headers ?? []).map(([name, value]) => [name, value.toString()])

t.test("key, value and headers go untouched, with Kafka Streams' headers behind", async (t) => {
  const record = deadLetterRecord(
    letter,
    original({
      headers: [
        ['a', Buffer.of(255)],
        ['a', Buffer.of(1)],
      ],
    }),
  )
  t.same(record.key, Buffer.from('key'))
  t.same(record.value, Buffer.from([0, 255, 1]))
  t.same(record.headers?.slice(0, 2), [
    ['a', Buffer.of(255)],
    ['a', Buffer.of(1)],
  ])
  t.same(headersOf(record).slice(2), [
    ['__streams.errors.topic', 'hb'],
    ['__streams.errors.partition', '3'],
    ['__streams.errors.offset', '17'],
    ['__streams.errors.exception', 'EMPTY'],
    ['__streams.errors.message', 'the value is empty'],
  ])
})

t.test('IV-02 a null key and value stay null', async (t) => {
  t.match(deadLetterRecord(letter, original({ key: null, value: null })), { key: null, value: null })
})

t.test('IV-05 headers that cannot be sent again are dropped and named', async (t) => {
  const names = ['constructor', 'ok', '__proto__', 'toString', 'constructor', 'hasOwnProperty']
  const headers: Headers = names.map((name) => [name, Buffer.from('x')])
  const sent = headersOf(deadLetterRecord(letter, original({ headers })))
  t.same(sent[0], ['ok', 'x'])
  t.same(
    sent.find(([name]) => name === '__pulsefold.dropped-headers'),
    ['__pulsefold.dropped-headers', 'constructor __proto__ toString hasOwnProperty'],
  )
  t.equal(sent.length, 7)
})

t.test('ME-10 an original over 512 KiB goes in short form, which names its size', async (t) => {
  const value = Buffer.alloc(512 * 1024, 'v')
  const fits = deadLetterRecord(letter, original({ key: null, value, headers: [] }))
  t.equal(fits.value?.length, value.length)
  const nine = Buffer.alloc(9 * 1024 * 1024, 'v')
  const short = deadLetterRecord(letter, original({ value: nine, key: Buffer.alloc(10_000, 'k') }))
  t.same(short.value, nine.subarray(0, 4096))
  t.equal(short.key?.length, 4096)
  const expected = String(nine.length + 10_000 + 'ce_iddev-1'.length)
  t.same(headersOf(short).at(-1), ['__pulsefold.short-form', expected])
  t.same(headersOf(short)[0], ['ce_id', 'dev-1'], 'small headers stay')
})

t.test('whatever the original is, its dead letter can be sent', async (t) => {
  const huge = Buffer.alloc(2_000_000)
  const many = (count: number, name: string, size: number): Headers =>
    Array.from({ length: count }, (_, i) => [`${name}${i}`, Buffer.alloc(size)])
  const originals: Readonly<Record<string, Partial<InputRecord>>> = {
    'a large key': { key: huge },
    'a large header': { headers: [['a', huge]] },
    'a long header name': { headers: [['a'.repeat(2_000_000), Buffer.alloc(0)]] },
    'many headers': { headers: many(20_000, 'name', 100) },
    'many middling headers': { headers: many(500, 'name', 4000) },
    'many headers that cannot be sent': {
      headers: Array.from({ length: 200_000 }, () => ['constructor', Buffer.alloc(0)] as const),
    },
    'just below the short form': { value: Buffer.alloc(512 * 1024 - 100) },
  }
  for (const [what, change] of Object.entries(originals)) {
    const record = deadLetterRecord({ ...letter, message: 'm'.repeat(500_000) }, original(change))
    t.ok(recordBytes(record) < MAX_RECORD_BYTES, `${what}: ${recordBytes(record)} bytes`)
  }
})

t.test('all letters about one source position go to one partition', async (t) => {
  t.equal(deadLetterPartition(letter, 12), deadLetterPartition({ ...letter, code: 'OTHER', message: '' }, 12))
  const used = new Set(Array.from({ length: 100 }, (_, offset) => deadLetterPartition({ ...letter, offset }, 12)))
  t.equal(used.size, 12)
})
