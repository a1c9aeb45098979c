import { LogError } from '../../errors.js'
import type { NewRecord } from '../../log.js'
import { ByteReader } from './byte-reader.js'
import { ByteWriter, varintLength } from './byte-writer.js'
import { decompress } from './codecs.js'
import { crc32c } from './crc32c.js'
import { FetchedRecords, startsOf } from './fetched-records.js'
import type { FetchedBody } from './fetched-records.js'

/*
 * Kafka's record batch, magic 2:
 *
 *   0 base offset (8), 8 length of what follows (4), 12 leader epoch (4), 16 magic (1), 17 CRC-32C of what follows (4),
 *   21 attributes (2): codec 0-2, log append time 3, transactional 4, control 5, 23 last offset delta (4),
 *   27 base timestamp (8), 35 highest timestamp (8), 43 producer id (8), 51 producer epoch (2), 53 base sequence (4),
 *   57 record count (4), 61 records
 *
 * It is read and written here and not by kafkajs, which loses where an emptied batch ends, fails on a batch of very many
 * records, and keeps headers as an object.
 */
const headerBytes = 61
const lengthEndsAt = 12
const attributesAt = 21
const magic = 2
const codecMask = 0x07
const logAppendTimeFlag = 0x08
const transactionalFlag = 0x10
const controlFlag = 0x20
/** What a record takes beside key, value and headers, at most. */
const recordOverheadBytes = 32
const headerOverheadBytes = 10

/** Who writes a batch in a transaction, and the number of its first record in the partition since this epoch began. */
export interface ProducerStamp {
  readonly producerId: number
  readonly producerEpoch: number
  readonly sequence: number
}

/** An upper bound of a record's bytes in a batch. */
export function recordBytes({ key, value, headers = [] }: NewRecord): number {
  let bytes = recordOverheadBytes + (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, header] of headers) bytes += headerOverheadBytes + Buffer.byteLength(name) + header.length
  return bytes
}

/** One batch, not compressed. `nowMs` is the stamp of records that bring none. */
export function encodeBatch(records: readonly NewRecord[], nowMs: number, stamp?: ProducerStamp): Buffer {
  const stampOf = ({ timestamp = nowMs }: NewRecord): number => timestamp
  const base = stampOf(records[0] ?? { key: null, value: null })
  const highest = highestTimestamp(records, nowMs)
  const writer = new ByteWriter(records.reduce((bytes, record) => bytes + recordBytes(record), headerBytes))
  writer.int64(0).int32(0).int32(-1).int8(magic).int32(0)
  writer.int16(stamp === undefined ? 0 : transactionalFlag).int32(records.length - 1)
  writer.int64(base).int64(highest)
  writer
    .int64(stamp?.producerId ?? -1)
    .int16(stamp?.producerEpoch ?? -1)
    .int32(stamp?.sequence ?? -1)
  writer.int32(records.length)
  for (const [i, record] of records.entries()) writeRecord(writer, record, stampOf(record) - base, i)
  const bytes = writer.bytes()
  writer.int32At(8, bytes.length - lengthEndsAt)
  writer.uint32At(17, crc32c(bytes.subarray(attributesAt)))
  return bytes
}

/** The highest timestamp that the records bring; `nowMs` counts for those without. */
export function highestTimestamp(records: readonly NewRecord[], nowMs: number): number {
  return records.reduce((highest, { timestamp = nowMs }) => Math.max(highest, timestamp), -1)
}

function writeRecord(writer: ByteWriter, record: NewRecord, timestampDelta: number, offsetDelta: number): void {
  const { key, value, headers = [] } = record
  const names = headers.map(([name]) => Buffer.from(name))
  let bytes = 1 + varintLength(timestampDelta) + varintLength(offsetDelta) + varintLength(headers.length)
  bytes += lengthOf(key) + lengthOf(value)
  for (const [i, [, header]] of headers.entries()) bytes += lengthOf(names[i] as Buffer) + lengthOf(header)
  writer.varint(bytes).int8(0).varint(timestampDelta).varint(offsetDelta).varintBytes(key).varintBytes(value)
  writer.varint(headers.length)
  for (const [i, [, header]] of headers.entries()) writer.varintBytes(names[i] as Buffer).varintBytes(header)
}

function lengthOf(bytes: Buffer | null): number {
  return bytes === null ? 1 : varintLength(bytes.length) + bytes.length
}

export interface AbortedTransaction {
  readonly producerId: number
  readonly firstOffset: number
}

export interface DecodedRecords {
  readonly records: FetchedRecords
  /** Where to read on: behind the last batch that came whole, also when that batch holds no record. */
  readonly next: number
}

/**
 * The committed records from `offset` on in fetched bytes; they share memory with these. A last batch that is cut off
 * is left out. Errors: CODEC_UNSUPPORTED, LOG_DAMAGED.
 */
export async function decodeBatches(
  bytes: Buffer,
  offset: number,
  aborted: readonly AbortedTransaction[] = [],
): Promise<DecodedRecords> {
  const waiting = [...aborted].sort((a, b) => a.firstOffset - b.firstOffset)
  const aborting = new Set<number>()
  const bodies: FetchedBody[] = []
  let next = offset
  for (let at = 0; at + headerBytes <= bytes.length;) {
    const batch = readHeader(bytes, at)
    if (batch.end > bytes.length) break
    at = batch.end
    while (waiting[0] !== undefined && waiting[0].firstOffset <= batch.lastOffset) {
      aborting.add((waiting.shift() as AbortedTransaction).producerId)
    }
    if (batch.isControl) aborting.delete(batch.producerId)
    else if (!(batch.isTransactional && aborting.has(batch.producerId)) && batch.lastOffset >= offset) {
      bodies.push(await bodyOf(batch, offset))
    }
    next = Math.max(next, batch.lastOffset + 1)
  }
  return { records: new FetchedRecords(bodies), next }
}

interface BatchHeader {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly baseTimestamp: number
  readonly maxTimestamp: number
  readonly producerId: number
  readonly codec: number
  readonly isLogAppendTime: boolean
  readonly isTransactional: boolean
  readonly isControl: boolean
  readonly count: number
  readonly body: Buffer
  readonly end: number
}

function readHeader(bytes: Buffer, at: number): BatchHeader {
  const reader = new ByteReader(bytes.subarray(at))
  const baseOffset = reader.int64()
  const end = at + lengthEndsAt + reader.int32()
  reader.skip(4)
  const format = reader.int8()
  if (format !== magic) throw new LogError('CODEC_UNSUPPORTED', `a batch has record format ${format}, not ${magic}`)
  reader.skip(4)
  const attributes = reader.int16()
  const lastOffset = baseOffset + reader.int32()
  const [baseTimestamp, maxTimestamp, producerId] = [reader.int64(), reader.int64(), reader.int64()]
  reader.skip(6)
  const count = reader.int32()
  return {
    ...{ baseOffset, lastOffset, baseTimestamp, maxTimestamp, producerId, count, end },
    codec: attributes & codecMask,
    isLogAppendTime: (attributes & logAppendTimeFlag) !== 0,
    isTransactional: (attributes & transactionalFlag) !== 0,
    isControl: (attributes & controlFlag) !== 0,
    body: bytes.subarray(at + headerBytes, Math.min(end, bytes.length)),
  }
}

async function bodyOf(batch: BatchHeader, from: number): Promise<FetchedBody> {
  const { baseOffset, baseTimestamp, maxTimestamp, count, codec, body, isLogAppendTime } = batch
  const bytes = codec === 0 ? body : await decompress(codec, body)
  const logAppendTime = isLogAppendTime ? maxTimestamp : undefined
  return { baseOffset, baseTimestamp, logAppendTime, bytes, starts: startsOf(bytes, count, baseOffset, from) }
}
