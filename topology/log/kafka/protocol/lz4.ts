import { copyBack } from './snappy.js'

const magic = 0x184d2204
const maxBlockBytes = [0, 0, 0, 0, 64 * 1024, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024]
const contentSizeFlag = 0x08
const blockChecksumFlag = 0x10
const independentFlag = 0x20
const dictionaryFlag = 0x01
const rawBlock = 0x80000000

/** An LZ4 frame of independent blocks, as Kafka's clients write it. Checksums are left to the batch's own. */
export function decompressLz4(bytes: Buffer): Buffer {
  if (bytes.readUInt32LE(0) !== magic) throw new RangeError('not an LZ4 frame')
  const [flags, sizes] = [bytes.readUInt8(4), bytes.readUInt8(5)]
  if ((flags & independentFlag) === 0) throw new RangeError('an LZ4 frame of linked blocks')
  const largest = maxBlockBytes[(sizes >> 4) & 7] ?? 0
  let at = 7 + ((flags & contentSizeFlag) === 0 ? 0 : 8) + ((flags & dictionaryFlag) === 0 ? 0 : 4)
  const blocks: Buffer[] = []
  for (;;) {
    const head = bytes.readUInt32LE(at)
    at += 4
    if (head === 0) return Buffer.concat(blocks)
    const size = head % rawBlock
    const block = bytes.subarray(at, at + size)
    blocks.push(head >= rawBlock ? block : decompressBlock(block, largest))
    at += size + ((flags & blockChecksumFlag) === 0 ? 0 : 4)
  }
}

function decompressBlock(bytes: Buffer, largest: number): Buffer {
  const out = Buffer.allocUnsafe(largest)
  let at = 0
  let to = 0
  const length = (short: number): number => {
    let sum = short
    if (short < 15) return sum
    for (;;) {
      const more = bytes.readUInt8(at++)
      sum += more
      if (more < 255) return sum
    }
  }
  for (;;) {
    const token = bytes.readUInt8(at++)
    const literals = length(token >> 4)
    if (to + literals > largest || at + literals > bytes.length) throw new RangeError('literals reach out of the block')
    to += bytes.copy(out, to, at, at + literals)
    at += literals
    if (at === bytes.length) return out.subarray(0, to)
    const back = bytes.readUInt16LE(at)
    at += 2
    to = copyBack(out, to, back, length(token & 15) + 4)
  }
}
