import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import type { NewRecord } from '../../log.js'
import { crc32c } from './crc32c.js'
import { decodeBatches, encodeBatch } from './record-batch.js'

const nowMs = 1_700_000_000_000
const attributesAt = 21

/** The batch as a broker stores it. */
function stored(
  batch: Buffer,
  baseOffset: number,
  change: { readonly attributes?: number; readonly maxTimestamp?: bigint } = {},
): Buffer {
  const bytes = Buffer.from(batch)
  bytes.writeBigInt64BE(BigInt(baseOffset), 0)
  if (change.attributes !== undefined)
    bytes.writeInt16BE(bytes.readInt16BE(attributesAt) | change.attributes, attributesAt)
  if (change.maxTimestamp !== undefined) bytes.writeBigInt64BE(change.maxTimestamp, 35)
  return bytes
}

/** As compaction leaves a batch all of whose records are gone. */
function emptied(batch: Buffer, baseOffset: number): Buffer {
  const bytes = Buffer.from(stored(batch, baseOffset).subarray(0, 61))
  bytes.writeInt32BE(61 - 12, 8)
  bytes.writeInt32BE(0, 57)
  return bytes
}

const of = (...values: string[]): NewRecord[] => values.map((value) => ({ key: null, value: Buffer.from(value) }))

t.test('CRC-32C of the known vectors', async (t) => {
  t.equal(crc32c(Buffer.alloc(0)), 0)
  t.equal(crc32c(Buffer.from('123456789')), 0xe3069283)
  t.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa)
  t.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43)
})

t.test('what is encoded is decoded the same', async () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
  const newRecord = fc.record({
    key: fc.option(bytes),
    value: fc.option(bytes),
    timestamp: fc.oneof(fc.constant(-1), fc.integer({ min: 0, max: 9_999_999_999_999 })),
    headers: fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), bytes), { maxLength: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(newRecord, { minLength: 1, maxLength: 20 }), fc.nat(2 ** 40), async (records, offset) => {
      const batch = stored(encodeBatch(records, nowMs), offset)
      t.equal(batch.readUInt32BE(17), crc32c(batch.subarray(attributesAt)))
      const decoded = await decodeBatches(batch, offset)
      t.same(decoded.next, offset + records.length)
      t.same(
        [...decoded.records],
        records.map((record, i) => ({ ...record, offset: offset + i })),
      )
    }),
    { seed: 20260101 },
  )
})

t.test('records below the offset asked for are left out, and a batch that is cut off', async (t) => {
  const [first, second] = [stored(encodeBatch(of('a', 'b', 'c'), nowMs), 10), stored(encodeBatch(of('d'), nowMs), 13)]
  const { records, next } = await decodeBatches(Buffer.concat([first, second.subarray(0, second.length - 1)]), 11)
  t.same(
    [...records].map(({ offset, value }) => `${offset}${value?.toString()}`),
    ['11b', '12c'],
  )
  t.equal(next, 13)
})

t.test('the log append time of a batch holds for all its records', async (t) => {
  const batch = stored(encodeBatch(of('a', 'b'), 5), 0, { attributes: 8, maxTimestamp: 77n })
  const { records } = await decodeBatches(batch, 0)
  t.same(
    [...records].map(({ timestamp }) => timestamp),
    [77, 77],
  )
})

t.test('RS-01 an emptied batch moves the position', async (t) => {
  const bytes = Buffer.concat([
    emptied(encodeBatch(of('a', 'b', 'c'), nowMs), 4),
    stored(encodeBatch(of('d'), nowMs), 9),
  ])
  t.same((await decodeBatches(bytes.subarray(0, 61), 4)).next, 7)
  const { records, next } = await decodeBatches(bytes, 4)
  t.match({ next, records: [...records] }, { next: 10, records: [{ offset: 9 }] })
})

t.test('aborted transactions are passed over, committed ones of the same producer are not', async (t) => {
  const producer = (sequence: number): { producerId: number; producerEpoch: number; sequence: number } => ({
    producerId: 7,
    producerEpoch: 0,
    sequence,
  })
  const bytes = Buffer.concat([
    stored(encodeBatch(of('aborted'), nowMs, producer(0)), 0),
    stored(encodeBatch(of('plain'), nowMs), 1),
    stored(encodeBatch(of('abort marker'), nowMs, producer(0)), 2, { attributes: 0x20 }),
    stored(encodeBatch(of('committed'), nowMs, producer(1)), 3),
    stored(encodeBatch(of('commit marker'), nowMs, producer(1)), 4, { attributes: 0x20 }),
  ])
  const { records, next } = await decodeBatches(bytes, 0, [{ producerId: 7, firstOffset: 0 }])
  t.same(
    [...records].map(({ value }) => value?.toString()),
    ['plain', 'committed'],
  )
  t.equal(next, 5)
})

/** A batch whose records stand compressed in it. */
function compressed(records: readonly NewRecord[], codec: number, compress: (bytes: Buffer) => Buffer): Buffer {
  const plain = encodeBatch(records, nowMs)
  const bytes = Buffer.concat([plain.subarray(0, 61), compress(plain.subarray(61))])
  bytes.writeInt32BE(bytes.length - 12, 8)
  bytes.writeInt16BE(codec, attributesAt)
  return bytes
}

/** "abcabcabcabc…" in one literal and one copy that repeats itself. */
const repeated = Buffer.from('abc'.repeat(20))
const literalOf = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0xf4, bytes.length - 1, (bytes.length - 1) >> 8]), bytes])
const snappy = (bytes: Buffer): Buffer => {
  const head = bytes.subarray(0, bytes.length - 57)
  const rest = bytes.subarray(bytes.length - 57)
  t.ok(rest.length === 57)
  const length = Buffer.from([(bytes.length & 0x7f) | 0x80, bytes.length >> 7])
  return Buffer.concat([length, literalOf(head), literalOf(rest)])
}

t.test('SH-07 gzip and snappy are read, and an unknown codec is told', async (t) => {
  const records = [{ key: null, value: repeated }]
  for (const [codec, compress] of [
    [1, (bytes: Buffer) => gzipSync(bytes)],
    [2, snappy],
    [2, (bytes: Buffer) => javaSnappy(snappy(bytes))],
  ] as const) {
    t.same((await decodeBatches(compressed(records, codec, compress), 0)).records.at(0)?.value, repeated)
  }
  await t.rejects(
    decodeBatches(
      compressed(records, 6, (bytes) => bytes),
      0,
    ),
    { code: 'CODEC_UNSUPPORTED' },
  )
})

function javaSnappy(block: Buffer): Buffer {
  const head = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0])
  head.writeInt32BE(block.length, 16)
  return Buffer.concat([head, block])
}
