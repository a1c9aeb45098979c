import { CRC_TABLE, masked } from './crc32c.js'
import type { BlockHandle } from './table-footer.js'

/**
 * Checks the blocks of a RocksDB 6 table file (an .sst) as its bytes pass, without its index: blocks lie one behind the other, each
 * followed by a byte that names its compression and by the masked CRC-32C of both (table/format.h), so a block ends where
 * these agree.
 */
export class TableChecksums {
  readonly #onBlock: (block: BlockHandle) => void
  /** Where the block at hand begins. */
  #offset = 0
  #crc = START
  #blockBytes = 0

  /** Tells each block. */
  constructor(onBlock: (block: BlockHandle) => void) {
    this.#onBlock = onBlock
  }

  /** Bytes taken of a block whose end has not come yet. */
  get blockBytes(): number {
    return this.#blockBytes
  }

  /** Takes bytes that follow those taken before; answers how many it took. Up to four may be left, for a block's end to be seen at once. */
  take(bytes: Buffer): number {
    const last = bytes.length - CHECKSUM_BYTES
    let crc = this.#crc
    let blockBytes = this.#blockBytes
    let at = 0
    while (at < last) {
      const byte = bytes[at++] as number
      crc = (CRC_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8)
      blockBytes++
      if (byte > HIGHEST_COMPRESSION || masked(~crc) !== bytes.readInt32LE(at)) continue
      this.#onBlock({ offset: this.#offset, bytes: blockBytes - 1 })
      this.#offset += blockBytes + CHECKSUM_BYTES
      crc = START
      blockBytes = 0
      at += CHECKSUM_BYTES
    }
    this.#crc = crc
    this.#blockBytes = blockBytes
    return at
  }
}

const START = -1
const CHECKSUM_BYTES = 4
/** None, or Snappy, the only one that the package is built with. */
const HIGHEST_COMPRESSION = 1
