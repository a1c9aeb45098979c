import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { LogError } from '../../errors.js'
import { decompressLz4 } from './lz4.js'
import { decompressSnappy } from './snappy.js'

const names = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const gunzip = promisify(zlib.gunzip)
const { zstdDecompress } = zlib as {
  zstdDecompress?: (bytes: Buffer, done: (error: Error | null, out: Buffer) => void) => void
}
const unzstd = zstdDecompress && promisify(zstdDecompress)

/**
 * The records of a batch that its producer compressed with gzip, snappy, lz4, or with zstd where Node has it (from 22.15
 * on). Errors: CODEC_UNSUPPORTED; what the decompression throws on damage.
 */
export async function decompress(codec: number, bytes: Buffer): Promise<Buffer> {
  if (codec === 1) return gunzip(bytes)
  if (codec === 2) return decompressSnappy(bytes)
  if (codec === 3) return decompressLz4(bytes)
  if (codec === 4 && unzstd !== undefined) return unzstd(bytes)
  const name = names[codec] ?? String(codec)
  throw new LogError('CODEC_UNSUPPORTED', `a batch is compressed with ${name}`, { details: { codec: name } })
}
