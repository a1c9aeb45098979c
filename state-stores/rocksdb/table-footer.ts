/** Where a block stands in its file; its compression and checksum, 5 bytes, are behind it. */
export interface BlockHandle {
  readonly offset: number
  readonly bytes: number
}

export const FOOTER_BYTES = 53
const CRC32C = 1
const HANDLES_END = 41
const FORMAT_VERSION = 4
const MAGIC = 0x88e2_41b7_85f4_cff7n

/**
 * The blocks that the last 53 bytes of a RocksDB 6 table file name (table/format.h): checksum type, the handles of metaindex and
 * index as varints, zeros up to 41, format version, magic number. Undefined: they are not as they are written.
 */
export function parseFooter(footer: Buffer): readonly BlockHandle[] | undefined {
  if (footer.length !== FOOTER_BYTES || footer[0] !== CRC32C) return undefined
  if (footer.readUInt32LE(HANDLES_END) !== FORMAT_VERSION) return undefined
  if (footer.readBigUInt64LE(HANDLES_END + 4) !== MAGIC) return undefined
  const numbers: number[] = []
  let at = 1
  for (let number = 0, factor = 1; numbers.length < 4 && at < HANDLES_END; factor *= 128) {
    const byte = footer[at++] ?? 0
    number += (byte & 0x7f) * factor
    if (byte > 0x7f) continue
    numbers.push(number)
    number = 0
    factor = 1 / 128
  }
  const [metaindex = 0, metaindexBytes = 0, index = 0, indexBytes] = numbers
  if (indexBytes === undefined || footer.subarray(at, HANDLES_END).some((byte) => byte !== 0)) return undefined
  return [
    { offset: metaindex, bytes: metaindexBytes },
    { offset: index, bytes: indexBytes },
  ]
}
