import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { ensureError } from '../../common/errors.js'
import { avroType } from '../../schemas/avro.js'
import type { Entry } from '../../state-stores/key-value-store.js'
import type { LogRecord } from '../log/log.js'
import { hashOf } from './chain.js'
import { ArchiveError } from './errors.js'
import type { FileSeal } from './lines.js'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

const nullableBytes = ['null', 'bytes']
const recordsType = avroType({
  type: 'array',
  items: {
    type: 'record',
    name: 'Record',
    fields: [
      { name: 'offset', type: 'long' },
      { name: 'timestamp', type: 'long' },
      { name: 'key', type: nullableBytes },
      { name: 'value', type: nullableBytes },
      {
        name: 'headers',
        type: {
          type: 'array',
          items: {
            type: 'record',
            name: 'Header',
            fields: [
              { name: 'name', type: 'string' },
              { name: 'value', type: 'bytes' },
            ],
          },
        },
      },
    ],
  },
})
const rowsType = avroType({
  type: 'array',
  items: {
    type: 'record',
    name: 'Row',
    fields: [
      { name: 'key', type: 'bytes' },
      { name: 'value', type: 'bytes' },
    ],
  },
})
interface AvroRecord extends Omit<LogRecord, 'headers'> {
  readonly headers: readonly { readonly name: string; readonly value: Buffer }[]
}

export function encodeRecords(records: readonly LogRecord[]): Buffer {
  return recordsType.toBuffer(
    records.map((record) => ({ ...record, headers: record.headers.map(([name, value]) => ({ name, value })) })),
  )
}

export function decodeRecords(bytes: Buffer): readonly LogRecord[] {
  return (recordsType.fromBuffer(bytes) as AvroRecord[]).map(({ offset, timestamp, key, value, headers }) => {
    return { offset, timestamp, key, value, headers: headers.map((header) => [header.name, header.value] as const) }
  })
}

export function encodeRows(rows: readonly Entry[]): Buffer {
  return rowsType.toBuffer(rows.map(([key, value]) => ({ key, value })))
}

export function decodeRows(bytes: Buffer): readonly { readonly key: Buffer; readonly value: Buffer }[] {
  return rowsType.fromBuffer(bytes) as { key: Buffer; value: Buffer }[]
}

/** Writes a compressed file, on disk when this resolves. */
export async function writeSealed(directory: string, name: string, content: Buffer): Promise<FileSeal> {
  const bytes = await compress(content)
  const path = join(directory, name)
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, 'w')
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  return { name, bytes: bytes.length, sha256: hashOf(bytes) }
}

/** Reads a file that must be as it was written. Errors: ARCHIVE_DAMAGED. */
export async function readSealed(directory: string, seal: FileSeal): Promise<Buffer> {
  const damaged = (what: string, cause?: unknown): ArchiveError =>
    new ArchiveError('ARCHIVE_DAMAGED', `${seal.name} ${what}`, { details: { file: seal.name }, cause })
  const bytes = await readFile(join(directory, seal.name)).catch((thrown: unknown) => {
    throw damaged(`cannot be read: ${ensureError(thrown).message}`, thrown)
  })
  if (bytes.length !== seal.bytes) throw damaged(`has ${bytes.length} bytes, not ${seal.bytes}`)
  if (hashOf(bytes) !== seal.sha256) throw damaged('has another content than was sealed')
  return decompress(bytes)
}
