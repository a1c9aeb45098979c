import avsc from 'avsc'

const { types } = avsc

/**
 * Where a value of `type` that starts at `at` ends; throws RangeError where the bytes are no such value. avsc reads arrays
 * and maps by the count that the bytes claim, and looks only afterwards whether there were so many bytes: a few broken bytes
 * would keep it busy for minutes. Here every turn takes at least one byte.
 */
export function endOfAvro(type: avsc.Type, bytes: Buffer, at: number): number {
  if (at > bytes.length) throw new RangeError('truncated')
  if (type instanceof types.RecordType) {
    for (const field of type.fields) at = endOfAvro(field.type, bytes, at)
    return at
  }
  if (type instanceof types.UnwrappedUnionType || type instanceof types.WrappedUnionType) {
    const branch = type.types[readVarint(bytes, at)]
    if (branch === undefined) throw new RangeError('no such branch of a union')
    return endOfAvro(branch, bytes, endOfVarint(bytes, at))
  }
  if (type instanceof types.ArrayType) {
    const { itemsType } = type
    return endOfBlocks(bytes, at, (from) => endOfAvro(itemsType, bytes, from))
  }
  if (type instanceof types.MapType) {
    const valuesType = type.valuesType as avsc.Type
    return endOfBlocks(bytes, at, (from) => endOfAvro(valuesType, bytes, endOfText(bytes, from)))
  }
  if (type instanceof types.FixedType) return at + type.size
  const name: unknown = type.typeName
  switch (name) {
    case 'null':
      return at
    case 'boolean':
      return at + 1
    case 'float':
      return at + 4
    case 'double':
      return at + 8
    case 'int':
    case 'long':
    case 'abstract:long':
    case 'enum':
      return endOfVarint(bytes, at)
    case 'bytes':
    case 'string':
      return endOfText(bytes, at)
    default:
      throw new RangeError(`unexpected type ${String(name)}`)
  }
}

function endOfBlocks(bytes: Buffer, at: number, endOfItem: (from: number) => number): number {
  for (;;) {
    const count = readVarint(bytes, at)
    at = endOfVarint(bytes, at)
    if (count === 0) return at
    if (count < 0) at = endOfVarint(bytes, at)
    for (let item = 0; item < Math.abs(count); item++) {
      const end = endOfItem(at)
      if (end === at || end > bytes.length) throw new RangeError('more items than bytes')
      at = end
    }
  }
}

function endOfText(bytes: Buffer, at: number): number {
  const length = readVarint(bytes, at)
  const end = endOfVarint(bytes, at) + length
  if (length < 0 || end > bytes.length) throw new RangeError('truncated')
  return end
}

function endOfVarint(bytes: Buffer, at: number): number {
  for (let end = at; end < at + 10; end++) {
    const byte = bytes[end]
    if (byte === undefined) throw new RangeError('truncated')
    if (byte < 0x80) return end + 1
  }
  throw new RangeError('a whole number of more than 64 bits')
}

/** Zigzag; beyond 2^53 only the magnitude is right, which is all that counts and lengths need. */
function readVarint(bytes: Buffer, at: number): number {
  const end = endOfVarint(bytes, at)
  let zigzag = 0
  for (let i = end - 1; i >= at; i--) zigzag = zigzag * 128 + ((bytes[i] ?? 0) & 0x7f)
  return zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2
}
