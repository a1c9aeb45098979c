import fc from 'fast-check'
import t from 'tap'
import { LogError } from '../../errors.js'
import type { LogRecord, NewRecord } from '../../log.js'
import type { FetchedRecords } from './fetched-records.js'
import { decodeBatches, encodeBatch } from './record-batch.js'

const bytes = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'same', 'x'.repeat(80)).map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 5 }).map((array) => Buffer.from(array)),
)
const record = fc.record({
  key: fc.option(bytes),
  value: fc.option(bytes),
  timestamp: fc.integer({ min: 0, max: 3 }),
  headers: fc.array(fc.tuple(fc.constantFrom('ce_id', 'ce_type', ''), bytes), { maxLength: 3 }),
})
/** Batches one behind the other. */
const batches = fc.array(fc.array(record, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 4 })

function stored(given: readonly (readonly NewRecord[])[]): Buffer {
  let offset = 0
  return Buffer.concat(
    given.map((records) => {
      const batch = encodeBatch(records, 0)
      batch.writeBigInt64BE(BigInt(offset), 0)
      offset += records.length
      return batch
    }),
  )
}

const expected = (given: readonly (readonly NewRecord[])[]): unknown[] =>
  given.flat().map((one, offset) => ({ ...one, offset }))
const plain = (records: Iterable<LogRecord>): string => JSON.stringify([...records])

t.test('records are the same however they are asked for: all, from an offset, one by one, in portions', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      batches,
      fc.nat(),
      fc.nat({ max: 5 }),
      fc.nat({ max: 200 }),
      async (given, at, most, mostBytes) => {
        const all = expected(given)
        const from = at % all.length
        const { records } = await decodeBatches(stored(given), from)
        t.equal(records.length, all.length - from)
        const rest = all.slice(from)
        t.same([...records], rest)
        t.same([...records], rest, 'a second time')
        for (const i of [0, 1, rest.length - 1, -1]) t.same(records.at(i), rest.at(i))
        for (const i of [rest.length, -rest.length - 1]) t.equal(records.at(i), undefined)
        const taken: LogRecord[] = []
        for (let left: FetchedRecords = records; left.length > 0;) {
          const portion = left.take(most, mostBytes)
          t.ok(portion.records.length === 1 || (portion.records.length <= most && portion.bytes <= mostBytes))
          taken.push(...portion.records)
          left = left.slice(portion.records.length)
        }
        t.equal(plain(taken), plain(records))
      },
    ),
    { seed: 21, numRuns: 200 },
  )
})

t.test('what is as in the record before is the same object', async (t) => {
  const header = (name: string, value: string): readonly [string, Buffer] => [name, Buffer.from(value)]
  const one = (id: string): NewRecord => ({
    ...{ key: Buffer.from(id), value: Buffer.from('up') },
    headers: [header('ce_type', 'heartbeat'), header('ce_id', id)],
  })
  const { records } = await decodeBatches(stored([[one('1'), one('2')]]), 0)
  const [first, second] = [...records]
  t.equal(first?.headers[0], second?.headers[0])
  t.equal(first?.value, second?.value)
  t.not(first?.headers[1], second?.headers[1])
  t.equal(second?.headers[1]?.[1].toString(), '2')
})

t.test('of damaged bytes come records or LOG_DAMAGED, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(batches, fc.nat(), fc.nat({ max: 255 }), async (given, at, byte) => {
      const bytes = stored([given.flat()])
      // Behind the batch's header: what TCP and the broker's checksum let through.
      bytes[61 + (at % (bytes.length - 61))] = byte
      try {
        const { records } = await decodeBatches(bytes, 0)
        plain(records)
      } catch (error) {
        if (!(error instanceof LogError) || !['LOG_DAMAGED', 'CODEC_UNSUPPORTED'].includes(error.code)) throw error
      }
    }),
    { seed: 22, numRuns: 2000 },
  )
})
