import { CRC_TABLE, masked } from './crc32c.js'

/** A write-ahead log is blocks of this size, filled with fragments of records: CRC (4), length (2), type (1), bytes. (db/log_format.h) */
const BLOCK_BYTES = 32 * 1024
const HEADER_BYTES = 7
/** Whole, first, middle, last. */
const HIGHEST_TYPE = 4

/**
 * Where a write-ahead log is damaged; undefined: nowhere. RocksDB leaves out what is not whole, as if it were the end after a torn
 * write. But behind a torn write nothing was written: where a whole fragment follows, what lies between was lost later. A
 * damaged last write looks like a torn one.
 */
export function findLogDamage(bytes: Buffer): number | undefined {
  let brokenAt: number | undefined
  for (let block = 0; block < bytes.length; block += BLOCK_BYTES) {
    const end = Math.min(block + BLOCK_BYTES, bytes.length)
    for (let at = block; at + HEADER_BYTES <= end;) {
      const next = fragmentEnd(bytes, at, end)
      if (next !== undefined) {
        if (brokenAt !== undefined) return brokenAt
        at = next
      } else if (brokenAt === undefined && isZero(bytes, at, at + HEADER_BYTES)) {
        // Padding of a block; RocksDB passes over it.
        break
      } else {
        brokenAt ??= at
        at++
      }
    }
  }
  return undefined
}

/** Where the whole fragment that begins here ends; undefined: there is none. */
function fragmentEnd(bytes: Buffer, at: number, blockEnd: number): number | undefined {
  const end = at + HEADER_BYTES + bytes.readUInt16LE(at + 4)
  const type = bytes[at + 6] as number
  if (end > blockEnd || type === 0 || type > HIGHEST_TYPE) return undefined
  let crc = -1
  for (let i = at + 6; i < end; i++) crc = (CRC_TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8)
  return masked(~crc) === bytes.readInt32LE(at) ? end : undefined
}

function isZero(bytes: Buffer, from: number, to: number): boolean {
  return bytes.subarray(from, to).every((byte) => byte === 0)
}
