const CRC32C_POLYNOMIAL = 0x82f6_3b78

/** What a byte leaves of a CRC-32C. */
export const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ CRC32C_POLYNOMIAL : crc >>> 1
  return crc
})

/** As RocksDB keeps them. (util/crc32c.h) */
export function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282_ead8) | 0
}
