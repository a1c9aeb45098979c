import { deepStrictEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { LogError } from '../errors.js'
import type { LogRecord, NewRecord } from '../log.js'
import { encodeBatches, encodeKept, sealBatch, storedBatch } from './batch-codec.js'
import { batchKey } from './rows.js'
import type { Seal, StoredBatch } from './batch-codec.js'
import { recordsOf } from './stored-records.js'

const seal: Seal = { appendedAt: 7, maxTimestamp: 7, highestTimestamp: 9, endBytes: 11 }
const base = 2 ** 40 + 3

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
const name = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'ce_id', ''), fc.string({ unit: 'grapheme' }))
const newRecord: fc.Arbitrary<NewRecord> = fc.record(
  {
    key: fc.option(bytes),
    value: fc.option(bytes),
    headers: fc.array(fc.tuple(name, bytes), { maxLength: 4 }),
    timestamp: fc.integer({ min: -1, max: 2 ** 42 }),
  },
  { requiredKeys: ['key', 'value'] },
)

/** A counterexample is printed with its seed. */
function check<T>(t: Test, property: fc.IProperty<T>, parameters: fc.Parameters<T>): void {
  t.doesNotThrow(() => fc.assert(property, parameters))
}

/** Encodes and gives the batches their places. */
function stored(records: readonly NewRecord[], stampMs: number | 'log'): StoredBatch[] {
  let next = base
  return encodeBatches(records, stampMs, Infinity).map(({ value, maxTimestamp }) => {
    const key = batchKey(1, 0, next)
    sealBatch(value, { ...seal, maxTimestamp: stampMs === 'log' ? seal.maxTimestamp : maxTimestamp }, key)
    const batch = storedBatch(key, value)
    next = batch.next
    return batch
  })
}

function expected(records: readonly NewRecord[], stampMs: number | 'log'): LogRecord[] {
  return records.map(({ key, value, headers = [], timestamp }, i) => ({
    offset: base + i,
    timestamp: stampMs === 'log' ? seal.maxTimestamp : (timestamp ?? stampMs),
    key,
    value,
    headers,
  }))
}

function decode(batches: readonly StoredBatch[], from = base): LogRecord[] {
  return batches.flatMap((batch) => recordsOf(batch, from))
}

t.test('records come back as they were, from any offset', async (t) => {
  check(
    t,
    fc.property(
      fc.array(newRecord, { minLength: 1, maxLength: 30 }),
      fc.constantFrom<number | 'log'>('log', 5),
      fc.nat(30),
      (records, stampMs, skipped) => {
        const batches = stored(records, stampMs)
        deepStrictEqual(decode(batches), expected(records, stampMs))
        deepStrictEqual(decode(batches, base + skipped), expected(records, stampMs).slice(skipped))
        equal(batches.at(-1)?.next, base + records.length)
      },
    ),
    { seed: 1, numRuns: 200 },
  )
})

t.test('what compaction keeps has its own offsets and stamps', async (t) => {
  check(
    t,
    fc.property(fc.array(fc.tuple(newRecord, fc.boolean()), { maxLength: 30 }), (choices) => {
      const all = expected(
        choices.map(([record]) => record),
        5,
      )
      const kept = all.filter((_, i) => choices[i]?.[1])
      const batch = encodeKept(kept, batchKey(1, 0, base), base + 2 ** 33, seal)
      deepStrictEqual(decode([storedBatch(batchKey(1, 0, base), batch.value)]), kept)
      equal(storedBatch(batchKey(1, 0, base), batch.value).next, base + 2 ** 33)
    }),
    { seed: 2, numRuns: 100 },
  )
})

t.test('a long append becomes several batches of bounded size', async (t) => {
  const small = Array.from({ length: 2_500 }, (_, i) => ({ key: null, value: Buffer.from(`${i}`) }))
  t.same(
    encodeBatches(small, 'log', Infinity).map(({ span }) => span),
    [1_000, 1_000, 500],
  )
  const large = Array.from({ length: 10 }, () => ({ key: null, value: Buffer.alloc(100_000) }))
  t.same(
    encodeBatches(large, 'log', Infinity).map(({ span }) => span),
    [3, 3, 3, 1],
  )
  t.same(encodeBatches([], 'log', Infinity), [])
})

t.test('key, value and headers together are bounded', async (t) => {
  const record = { key: Buffer.alloc(10), value: Buffer.alloc(20), headers: [['größe', Buffer.alloc(3)]] as const }
  t.equal(encodeBatches([record], 'log', 40).length, 1)
  t.throws(() => encodeBatches([record], 'log', 39), { code: 'RECORD_TOO_LARGE', details: { bytes: 40 } })
})

t.test('a batch cut short or of another version is damage, nothing else', async (t) => {
  const records = [
    { key: Buffer.from('key'), value: Buffer.from('value'), headers: [['h', Buffer.from('x')]] as const },
  ]
  const [batch] = stored([...records, { ...records[0]!, timestamp: 9 }], 5)
  const damaged = (value: Buffer, key = batchKey(1, 0, base)): unknown => {
    try {
      return decode([storedBatch(key, value)])
    } catch (error) {
      return error
    }
  }
  for (let length = 0; length < batch!.value.length; length++) {
    const error = damaged(batch!.value.subarray(0, length))
    t.ok(error instanceof LogError && error.code === 'LOG_DAMAGED', `${length} bytes`)
  }
  const other = Buffer.from(batch!.value)
  other[0] = 9
  t.match(damaged(other), { code: 'LOG_DAMAGED' })
})

t.test('a batch with any bit changed, or in the place of another one, is damage', async (t) => {
  const [batch] = stored([{ key: null, value: Buffer.from('value'), headers: [['h', Buffer.from('x')]] }], 5)
  const key = batchKey(1, 0, base)
  t.equal(storedBatch(key, batch!.value).base, base)
  const unnoticed: number[] = []
  for (let bit = 0; bit < batch!.value.length * 8; bit++) {
    const value = Buffer.from(batch!.value)
    value[bit >> 3]! ^= 1 << (bit & 7)
    try {
      storedBatch(key, value)
      unnoticed.push(bit)
    } catch (error) {
      if (!(error instanceof LogError && error.code === 'LOG_DAMAGED')) throw error
    }
  }
  t.same(unnoticed, [])
  for (const other of [batchKey(2, 0, base), batchKey(1, 1, base), batchKey(1, 0, base + 1)]) {
    t.throws(() => storedBatch(other, batch!.value), { code: 'LOG_DAMAGED' })
  }
})
