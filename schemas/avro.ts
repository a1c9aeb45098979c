import avsc from 'avsc'

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
  /** Throws where `encode` would, without making the bytes. Absent: `encode` is called for it. */
  check?(row: Row): void
  decode(bytes: Buffer): Row
}

/** The avsc type of a schema; records in unions are wrapped by their name, everything else is plain. */
export function avroType(schema: unknown): avsc.Type {
  return avsc.Type.forSchema(schema as AvroSchema)
}

/**
 * Rows in Avro. Layout: the body, then the positions (those fields whose name is in `positionFields`: they differ between
 * two sites with the same history), then one byte: the length of the positions. The second digest leaves them out.
 */
export function avroRowCodec<Row extends object>(
  schema: AvroRecordSchema,
  positionFields: readonly (keyof Row & string)[] = [],
): RowCodec<Row> {
  const isPosition = (name: string): boolean => (positionFields as readonly string[]).includes(name)
  const body = avroType({ ...schema, fields: schema.fields.filter((field) => !isPosition(field.name)) })
  const positions = avroType({
    ...schema,
    name: `${schema.name}Positions`,
    fields: schema.fields.filter((field) => isPosition(field.name)),
  })
  /** Writes a row at the beginning of `scratch`; answers how many bytes it takes. */
  function write(row: Row): number {
    for (;;) {
      // Written in place: a Buffer for each part would cost more than the encoding.
      const bodyEnd = body.encode(row, scratch, 0)
      const end = bodyEnd < 0 ? bodyEnd : positions.encode(row, scratch, bodyEnd)
      if (end >= 0 && end < scratch.length) {
        scratch[end] = end - bodyEnd
        return end + 1
      }
      scratch = Buffer.allocUnsafeSlow(scratch.length * 2)
    }
  }
  return {
    encode(row) {
      const bytes = write(row)
      return Buffer.from(scratch.subarray(0, bytes))
    },
    check: (row) => void write(row),
    decode(bytes) {
      const end = bytes.length - 1
      const bodyEnd = end - (bytes[end] ?? 0)
      const row = body.decode(bytes, 0) as Decoded<Row>
      if (row.offset !== bodyEnd) throw new RangeError(`${schema.name}: ${bytes.length} bytes are no such row`)
      if (bodyEnd === end) return row.value
      const tail = positions.decode(bytes, bodyEnd) as Decoded<Partial<Row>>
      if (tail.offset !== end) throw new RangeError(`${schema.name}: ${bytes.length} bytes are no such row`)
      return Object.assign(row.value, tail.value)
    },
  }
}

interface Decoded<Value> {
  readonly value: Value
  readonly offset: number
}

/** Where rows are encoded before they are copied out; grows to the largest. */
let scratch = Buffer.allocUnsafeSlow(64 * 1024)
