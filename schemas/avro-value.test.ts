import fc from 'fast-check'
import t from 'tap'
import { addressHealthEventSchemas } from './address-health/journal-schemas.js'
import { AvroReader, AvroWriter } from './avro-bytes.js'
import { avroValue } from './avro-value.js'
import type { AvroRecordSchema } from './avro.js'
import { avroType } from './avro.js'
import { trustLevelEventSchemas } from './trust-level/journal-schemas.js'

const SAFE = Number.MAX_SAFE_INTEGER - 1
/** Below this avsc itself writes another number. */
const LEAST = -(2 ** 52)
const long = fc.oneof(
  fc.integer({ min: -70, max: 70 }),
  fc.maxSafeInteger().map((n) => Math.max(LEAST, Math.min(SAFE, n))),
)
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 70 }),
  fc
    .tuple(fc.constantFrom('a', 'é', '字', '😀', '\ud800'), fc.integer({ min: 60, max: 200 }))
    .map(([c, n]) => c.repeat(n)),
)

interface Schema {
  readonly type?: unknown
  readonly symbols?: string[]
  readonly items?: unknown
  readonly fields?: AvroRecordSchema['fields']
}

/** Values of a schema, whatever it is. */
function valuesOf(schema: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(schema)) return fc.oneof(...schema.map(valuesOf))
  if (typeof schema === 'object') {
    const { type, symbols = [], items, fields = [] } = schema as Schema
    if (type === 'enum') return fc.constantFrom(...symbols)
    if (type === 'array') return fc.array(valuesOf(items), { maxLength: 4 })
    if (type === 'record')
      return fc.record(Object.fromEntries(fields.map((field) => [field.name, valuesOf(field.type)])))
    return valuesOf(type)
  }
  const values: Record<string, fc.Arbitrary<unknown>> = {
    ...{ null: fc.constant(null), boolean: fc.boolean(), string: text, long, double: fc.double() },
    ...{ int: fc.integer(), bytes: fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array)) },
  }
  return values[schema as string]!
}

const everyType: AvroRecordSchema = {
  type: 'record',
  name: 'Every',
  namespace: 'some.where',
  fields: [
    ...['null', 'boolean', 'int', 'long', 'double', 'string', 'bytes'].map((type) => ({ name: type, type })),
    { name: 'words', type: { type: 'array', items: { type: 'enum', name: 'Word', symbols: ['A', 'B', 'C'] } } },
    { name: 'again', type: ['Word', 'null'] },
    { name: 'maybe', type: ['null', { type: 'record', name: 'Inner', fields: [{ name: 'at', type: 'long' }] }] },
    { name: 'fully', type: { type: 'array', items: 'some.where.Inner' } },
  ],
}
const schemas = [
  everyType,
  ...Object.values(trustLevelEventSchemas),
  ...Object.values(addressHealthEventSchemas),
] as const

function written(schema: unknown, value: unknown): Buffer {
  const out = new AvroWriter(1)
  avroValue(schema).write(out, value)
  return out.bytes()
}

/** Named types are spelled out, for avsc and here alike; arbitraries know no names. */
const spelled: Record<string, unknown> = {
  Word: { type: 'enum', symbols: ['A', 'B', 'C'] },
  'some.where.Inner': { type: 'record', fields: [{ name: 'at', type: 'long' }] },
}
const arbitraryOf = (schema: AvroRecordSchema): fc.Arbitrary<unknown> =>
  valuesOf(
    JSON.parse(JSON.stringify(schema), (key, value: unknown) => {
      return key === 'name' || typeof value !== 'string' ? value : (spelled[value] ?? value)
    }),
  )

t.test('what is written is byte for byte what avsc writes, and what avsc reads', async (t) => {
  for (const schema of schemas) {
    const theirs = avroType(schema)
    const ours = avroValue(schema)
    fc.assert(
      fc.property(arbitraryOf(schema), (value) => {
        const bytes = theirs.toBuffer(value)
        if (!written(schema, value).equals(bytes)) throw new Error('other bytes')
        const from = new AvroReader(bytes)
        const read = ours.read(from)
        if (from.left !== 0 || !theirs.toBuffer(read).equals(bytes)) throw new Error('another value')
      }),
      { seed: 11, numRuns: 200 },
    )
    t.pass(schema.name)
  }
})

t.test('numbers are exact up to the largest that avsc takes, and refused beyond', async (t) => {
  const theirs = avroType('long')
  for (const n of [0, -1, 63, 64, -64, -65, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 2, LEAST]) {
    t.ok(written('long', n).equals(theirs.toBuffer(n)), String(n))
    t.equal(avroValue('long').read(new AvroReader(written('long', n))), n)
  }
  for (const n of [LEAST - 1, -SAFE]) t.equal(avroValue('long').read(new AvroReader(written('long', n))), n)
  for (const n of [2 ** 53, 1.5, NaN, Infinity, '1', null]) t.throws(() => written('long', n), TypeError)
  for (const n of [2 ** 31, -(2 ** 31) - 1]) t.throws(() => written('int', n), TypeError)
  t.throws(() => avroValue('long').read(new AvroReader(Buffer.alloc(11, 0xff))), RangeError)
  t.throws(() => avroValue('long').read(new AvroReader(Buffer.from('ffffffffffffffff7f', 'hex'))), RangeError)
})

t.test('what does not fit is refused, and what is cut off as well', async (t) => {
  const wrong: readonly (readonly [schema: unknown, value: unknown])[] = [
    ...(['boolean', 'string', 'bytes', 'double', 'null'] as const).map((type) => [type, {}] as const),
    [{ type: 'enum', name: 'E', symbols: ['A'] }, 'B'],
    [['null', 'string'], 5],
    [['null', 'string'], undefined],
    [{ type: 'array', items: 'int' }, 'x'],
    [everyType, {}],
    [everyType, null],
  ]
  for (const [schema, value] of wrong) t.throws(() => written(schema, value), TypeError)
  t.throws(() => avroValue('some.Other'), /no schema some.Other/)
  t.throws(() => avroValue(['string', 'long']), /null and one other/)
  fc.assert(
    fc.property(arbitraryOf(everyType), fc.nat(), (value, cutAt) => {
      const bytes = written(everyType, value)
      const short = bytes.subarray(0, cutAt % bytes.length)
      try {
        avroValue(everyType).read(new AvroReader(short))
      } catch (error) {
        if (error instanceof RangeError) return
        throw error
      }
      throw new Error('read beyond its end')
    }),
    { seed: 12, numRuns: 300 },
  )
})

t.test('a value is gone behind as it is read: as far, and what cannot be read is refused', async (t) => {
  type Way = 'read' | 'skip'
  const wentTo = (schema: unknown, bytes: Buffer, way: Way): number | string => {
    const from = new AvroReader(bytes)
    try {
      avroValue(schema)[way](from)
      return from.left
    } catch (error) {
      if (error instanceof RangeError) return error.message
      throw error
    }
  }
  let refused = 0
  for (const schema of schemas) {
    fc.assert(
      fc.property(arbitraryOf(schema), fc.nat(), fc.nat({ max: 255 }), fc.nat(), (value, at, byte, cutAt) => {
        const bytes = Buffer.from(written(schema, value))
        const changed = Buffer.from(bytes)
        if (changed.length > 0) changed[at % changed.length] = byte
        for (const some of [bytes, changed, bytes.subarray(0, cutAt % (bytes.length + 1))]) {
          const read = wentTo(schema, some, 'read')
          if (typeof read === 'string') refused++
          if (wentTo(schema, some, 'skip') !== read) throw new Error('gone behind otherwise than read')
        }
      }),
      { seed: 13, numRuns: 200 },
    )
  }
  t.ok(refused > 100, `${refused} refused`)
})

t.test('a member that is missing is written as its default', async (t) => {
  const schema = { type: 'record', name: 'R', fields: [{ name: 'a', type: ['null', 'string'], default: null }] }
  t.same(written(schema, {}), avroType(schema).toBuffer({}))
})
