import avsc from 'avsc'

/** Avro's long as bigint: all 64 bits, where avsc's own refuses what lies beyond 2^53. */
const bigintLong = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer(value: bigint) {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  },
  fromJSON: (value: number | string) => BigInt(value),
  toJSON: (value: bigint) => value.toString(),
  isValid: (value: unknown) => typeof value === 'bigint' && BigInt.asIntN(64, value) === value,
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
})

/** For avsc's `forSchema`: reads every long, with a logical type or without, as bigint. */
export const bigintLongs = {
  typeHook: (schema: unknown): avsc.Type | undefined => (isLong(schema) ? bigintLong : undefined),
}

function isLong(schema: unknown): boolean {
  if (typeof schema === 'object' && schema !== null && 'type' in schema) return schema.type === 'long'
  return schema === 'long'
}
