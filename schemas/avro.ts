import avsc from 'avsc'
import { ReusedBytes } from '../common/reused-bytes.js'

/** Any Avro schema as JSON. */
export type AvroSchema = avsc.Schema

/** A named Avro record as JSON. */
export interface AvroRecordSchema {
  readonly type: 'record'
  readonly name: string
  readonly namespace?: string
  readonly doc?: string
  readonly fields: readonly {
    readonly name: string
    readonly type: unknown
    readonly default?: unknown
    readonly doc?: string
  }[]
}

/** How rows of a table become bytes. Same row, same bytes. */
export interface RowCodec<Row> {
  encode(row: Row): Buffer
  /** As `encode`, in bytes that hold until the next call. Absent: `encode` does. */
  encodeReused?(row: Row): Buffer
  /** Throws where `encode` would, without making the bytes. Absent: `encode` is called for it. */
  check?(row: Row): void
  /** Keeps nothing of the bytes. */
  decode(bytes: Buffer): Row
}

/**
 * The avsc type of a schema; records in unions are wrapped by their name, everything else is plain. Whatever bytes it is given, it
 * reads no more than they are: each item of an array has a byte at least.
 */
export function avroType(schema: unknown): avsc.Type {
  return avsc.Type.forSchema(schema as AvroSchema, { typeHook: boundedArrays })
}

/** What avsc reads from. */
interface Tap {
  readonly buf: Buffer
  readonly pos: number
  readLong(): number
  skipLong(): void
}

/** avsc takes any number for an array's length, and would go on reading far behind the end. */
class BoundedArray extends avsc.types.ArrayType {
  _read(tap: Tap): unknown[] {
    const itemsType = this.itemsType as unknown as { _read(tap: Tap): unknown }
    const items: unknown[] = []
    for (let count = tap.readLong(); count !== 0; count = tap.readLong()) {
      // A negative one comes with the bytes that they take.
      if (count < 0) tap.skipLong()
      const left = tap.buf.length - tap.pos
      if (!(Math.abs(count) <= left)) throw new RangeError(`an array of ${count} items in ${left} bytes`)
      for (let i = Math.abs(count); i > 0; i--) items.push(itemsType._read(tap))
    }
    return items
  }
}

function boundedArrays(schema: avsc.Schema, options: avsc.ForSchemaOptions): avsc.Type | undefined {
  const isArray = typeof schema === 'object' && 'type' in schema && schema.type === 'array'
  return isArray ? new BoundedArray(schema, options) : undefined
}

/**
 * Rows in Avro. Layout: the body, then the positions (those fields whose name is in `positionFields`: they differ between
 * two sites with the same history), then one byte: the length of the positions. The second digest leaves them out.
 */
export function avroRowCodec<Row extends object>(
  schema: AvroRecordSchema,
  positionFields: readonly (keyof Row & string)[] = [],
): RowCodec<Row> {
  const isPosition = ({ name }: { name: string }): boolean => (positionFields as readonly string[]).includes(name)
  const bodyFields = schema.fields.filter((field) => !isPosition(field))
  const fieldsOfPositions = schema.fields.filter(isPosition)
  const body = avroType({ ...schema, fields: bodyFields })
  const positions = avroType({ ...schema, name: `${schema.name}Positions`, fields: fieldsOfPositions })
  // A record's bytes are those of its fields one behind the other: read at once a row is one object.
  const whole = avroType({ ...schema, fields: [...bodyFields, ...fieldsOfPositions] })
  /** Writes a row at the beginning of `encoded`; answers how many bytes it takes. */
  function write(row: Row): number {
    for (let room = FIRST_BYTES; ; room *= 2) {
      const scratch = encoded.room(room)
      // Written in place: a Buffer for each part would cost more than the encoding.
      const bodyEnd = body.encode(row, scratch, 0)
      const end = bodyEnd < 0 ? bodyEnd : positions.encode(row, scratch, bodyEnd)
      if (end >= 0 && end < scratch.length) {
        scratch[end] = end - bodyEnd
        return end + 1
      }
    }
  }
  return {
    encode: (row) => Buffer.from(encoded.head(write(row))),
    encodeReused: (row) => encoded.head(write(row)),
    check: (row) => void write(row),
    decode(bytes) {
      const { value, offset } = whole.decode(bytes, 0) as { readonly value: Row; readonly offset: number }
      if (offset !== bytes.length - 1) throw new RangeError(`${schema.name}: ${bytes.length} bytes are no such row`)
      return value
    },
  }
}

/** Where rows are encoded before they are copied out. */
const encoded = new ReusedBytes()
const FIRST_BYTES = 64 * 1024
