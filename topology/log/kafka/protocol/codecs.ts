import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { LogError } from '../../errors.js'

const names = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
const gunzip = promisify(zlib.gunzip)

/** The records of a batch that its producer compressed. Errors: CODEC_UNSUPPORTED for all but gzip. */
export async function decompress(codec: number, bytes: Buffer): Promise<Buffer> {
  if (codec === 1) return gunzip(bytes)
  const name = names[codec] ?? String(codec)
  throw new LogError('CODEC_UNSUPPORTED', `a batch is compressed with ${name}`, { details: { codec: name } })
}
