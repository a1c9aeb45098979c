import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { ensureError } from '../../common/errors.js'
import { AvroReader } from '../../schemas/avro-bytes.js'
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
const keysType = avroType({
  type: 'record',
  name: 'Keys',
  fields: [
    { name: 'changed', type: { type: 'array', items: 'string' } },
    { name: 'decisive', type: { type: 'array', items: 'string' } },
  ],
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

/** Store keys of the rows that change in a segment, and of those the ones that matter to a subject's state in short. */
export interface SegmentKeys {
  readonly changed: readonly string[]
  readonly decisive: readonly string[]
}

export function encodeKeys(keys: SegmentKeys): Buffer {
  return keysType.toBuffer(keys)
}

/** Whether a segment's keys have one of these, without making texts of all the others. */
export function hasKey(bytes: Buffer, kind: keyof SegmentKeys, keys: readonly string[]): boolean {
  const wanted = keys.map((key) => Buffer.from(key))
  let reader = new AvroReader(bytes)
  const isWanted = (): boolean => {
    const length = reader.length()
    const [from, to] = [reader.at, reader.at + length]
    reader = new AvroReader(bytes, to)
    return wanted.some((key) => key.length === length && key.compare(bytes, from, to) === 0)
  }
  for (const field of ['changed', 'decisive'] as const) {
    let isThere = false
    for (let count = reader.long(); count > 0; count = reader.long()) {
      for (let left = count; left > 0; left--) isThere = isWanted() || isThere
    }
    if (field === kind) return isThere
  }
  return false
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
