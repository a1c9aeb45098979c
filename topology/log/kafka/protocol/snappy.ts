/** Snappy's block format, and the Java client's stream of such blocks around it. */
const javaMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const javaHeaderBytes = 16

export function decompressSnappy(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, javaMagic.length).equals(javaMagic)) return decompressBlock(bytes)
  const blocks: Buffer[] = []
  for (let at = javaHeaderBytes; at < bytes.length;) {
    const end = at + 4 + bytes.readInt32BE(at)
    blocks.push(decompressBlock(bytes.subarray(at + 4, end)))
    at = end
  }
  return Buffer.concat(blocks)
}

function decompressBlock(bytes: Buffer): Buffer {
  let at = 0
  const byte = (): number => bytes.readUInt8(at++)
  let length = 0
  for (let shift = 0; ; shift += 7) {
    const part = byte()
    length += (part & 0x7f) * 2 ** shift
    if (part < 0x80) break
  }
  const out = Buffer.allocUnsafe(length)
  let to = 0
  while (at < bytes.length) {
    const tag = byte()
    if ((tag & 3) === 0) {
      let size = (tag >> 2) + 1
      if (size > 60) {
        const extra = size - 60
        size = bytes.readUIntLE(at, extra) + 1
        at += extra
      }
      to += bytes.copy(out, to, at, at + size)
      at += size
      continue
    }
    const kind = tag & 3
    const size = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1
    const backBytes = kind === 3 ? 4 : kind
    const back = bytes.readUIntLE(at, backBytes) + (kind === 1 ? (tag >> 5) << 8 : 0)
    at += backBytes
    to = copyBack(out, to, back, size)
  }
  if (to !== length) throw new RangeError(`a snappy block gave ${to} bytes instead of ${length}`)
  return out
}

/** A copy may reach into what it writes itself: then it repeats. Answers where the next byte goes. */
export function copyBack(out: Buffer, to: number, back: number, size: number): number {
  if (back === 0 || back > to || to + size > out.length) throw new RangeError('a copy reaches out of the block')
  if (back >= size) out.copyWithin(to, to - back, to - back + size)
  else for (let i = 0; i < size; i++) out[to + i] = out[to + i - back] as number
  return to + size
}
