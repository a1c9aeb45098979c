/** CRC-32C (Castagnoli) as record batches carry it, eight bytes a step ("slicing by eight"). */
export function crc32c(bytes: Buffer): number {
  let crc = -1
  let at = 0
  for (const end = bytes.length - 7; at < end; at += 8) {
    const low = bytes.readInt32LE(at) ^ crc
    const high = bytes.readInt32LE(at + 4)
    crc =
      entry(7, low) ^
      entry(6, low >>> 8) ^
      entry(5, low >>> 16) ^
      entry(4, low >>> 24) ^
      entry(3, high) ^
      entry(2, high >>> 8) ^
      entry(1, high >>> 16) ^
      entry(0, high >>> 24)
  }
  for (; at < bytes.length; at++) crc = entry(0, crc ^ (bytes[at] as number)) ^ (crc >>> 8)
  return ~crc >>> 0
}

/** Eight tables of 256 one behind the other: table n moves a byte's remainder n bytes on. */
const tables = new Int32Array(8 * 256)
for (let byte = 0; byte < 256; byte++) {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  tables[byte] = crc
}
for (let i = 256; i < tables.length; i++) {
  const former = tables[i - 256] as number
  tables[i] = (tables[former & 0xff] as number) ^ (former >>> 8)
}

function entry(table: number, byte: number): number {
  return tables[table * 256 + (byte & 0xff)] as number
}
