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
  return {
    encode(row) {
      const head = body.toBuffer(row)
      const tail = positions.toBuffer(row)
      const out = Buffer.allocUnsafe(head.length + tail.length + 1)
      head.copy(out, 0)
      tail.copy(out, head.length)
      out[out.length - 1] = tail.length
      return out
    },
    decode(bytes) {
      const tailLength = bytes[bytes.length - 1] ?? 0
      const split = bytes.length - 1 - tailLength
      const row = body.fromBuffer(bytes.subarray(0, split)) as object
      if (tailLength === 0) return row as Row
      return Object.assign(row, positions.fromBuffer(bytes.subarray(split, bytes.length - 1))) as Row
    },
  }
}
