import fc from 'fast-check'
import t from 'tap'
import { avroRowCodec } from './avro.js'

interface Row {
  readonly names: readonly string[]
  readonly pairs: readonly { readonly a: string; readonly b: number }[]
  readonly offset: number
}

const codec = avroRowCodec<Row>(
  {
    type: 'record',
    name: 'Row',
    fields: [
      { name: 'names', type: { type: 'array', items: 'string' } },
      {
        name: 'pairs',
        type: {
          type: 'array',
          items: {
            type: 'record',
            name: 'Pair',
            fields: [
              { name: 'a', type: 'string' },
              { name: 'b', type: 'long' },
            ],
          },
        },
      },
      { name: 'offset', type: 'long' },
    ],
  },
  ['offset'],
)

const anyRow: fc.Arbitrary<Row> = fc.record({
  names: fc.array(fc.string()),
  pairs: fc.array(fc.record({ a: fc.string(), b: fc.integer() })),
  offset: fc.nat(),
})

t.test('rows come back as they were, arrays too', async () => {
  fc.assert(fc.property(anyRow, (row) => JSON.stringify(codec.decode(codec.encode(row))) === JSON.stringify(row)))
})

t.test('an array that says it is longer than its bytes is refused at once', async (t) => {
  // Lengths of 2^31 and 2^52, and one that comes with its bytes: -2^31.
  for (const hex of ['8080808010', '80808080808080' + '10', 'ffffffff0f' + '02']) {
    t.throws(() => codec.decode(Buffer.from(hex + '0000000000', 'hex')), /an array of -?\d+ items/, hex)
  }
})

t.test('whatever became of its bytes, a row is decoded or refused', async () => {
  const damaged = fc.tuple(anyRow, fc.nat(), fc.integer({ min: 1, max: 255 })).map(([row, at, mask]) => {
    const bytes = codec.encode(row)
    bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ mask
    return bytes
  })
  fc.assert(
    fc.property(
      fc.oneof(
        damaged,
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
      (bytes) => {
        try {
          codec.decode(bytes)
        } catch (error) {
          if (!(error instanceof Error)) throw error
        }
      },
    ),
  )
})
