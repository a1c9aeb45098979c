import { LogError } from '../errors.js'
import type { LogRecord, NewRecord } from '../log.js'
import { HeaderNames, readHeaderNames } from './header-names.js'
import { noHeaders, RecordReader, sizeOf, varintBytes, writeRecord, writeVarint } from './record-codec.js'

/*
 * One stored value holds the records of one append (or a slice of a long one):
 *
 *   0 version, 1 flags, 2 record count (4), 6 span: offsets covered (6), 12 append time (8), 20 highest timestamp of the
 *   batch (8), 28 highest timestamp of the partition up to here (8), 36 bytes ever written to the partition up to here (8),
 *   44 header names, records
 *
 * The two running values make each question "which is the first batch from where ..." a binary search.
 */
const version = 1
const headerBytes = 44
const ownTimestamps = 1
const ownOffsets = 2

const maxBatchRecords = 1_000
/** A batch of so many bytes takes no further record. */
const fullBatchBytes = 262_144

/** A batch as stored: `next` is the first offset behind it, beyond its last record plus one where compaction took some. */
export interface StoredBatch {
  readonly base: number
  readonly next: number
  readonly value: Buffer
}

/** What the log adds when a batch gets its place. */
export interface Seal {
  readonly appendedAt: number
  /** The batch's highest timestamp. */
  readonly maxTimestamp: number
  /** The partition's highest timestamp, this batch included. */
  readonly highestTimestamp: number
  /** Bytes ever written to the partition, this batch included. */
  readonly endBytes: number
}

/** An encoded batch without a place yet. */
export interface EncodedBatch {
  readonly value: Buffer
  readonly span: number
  readonly maxTimestamp: number
}

export interface ReadBudget {
  records: number
  bytes: number
}

/**
 * Encodes an append into batches of bounded size. `stampMs` is the timestamp of records that bring none; 'log' leaves all
 * timestamps to the seal. Errors: RECORD_TOO_LARGE.
 */
export function encodeBatches(
  records: readonly NewRecord[],
  stampMs: number | 'log',
  maxRecordBytes: number,
): EncodedBatch[] {
  const batches: EncodedBatch[] = []
  let slice = { from: 0, to: 0, bytes: 0, names: new HeaderNames() }
  for (const [i, record] of records.entries()) {
    if (slice.bytes >= fullBatchBytes || i - slice.from >= maxBatchRecords) {
      batches.push(encodeSlice(records, slice, stampMs))
      slice = { from: i, to: i, bytes: 0, names: new HeaderNames() }
    }
    slice.bytes += sizeOf(record, i, slice.names, maxRecordBytes)
    slice.to = i + 1
  }
  if (records.length > 0) batches.push(encodeSlice(records, slice, stampMs))
  return batches
}

interface Slice {
  readonly from: number
  readonly to: number
  /** Bytes of the records as encoded. */
  readonly bytes: number
  readonly names: HeaderNames
}

function encodeSlice(
  records: readonly NewRecord[],
  { from, to, bytes, names }: Slice,
  stampMs: number | 'log',
): EncodedBatch {
  const first = records[from]?.timestamp ?? stampMs
  let maxTimestamp = -1
  let flags = 0
  if (stampMs !== 'log') {
    for (let i = from; i < to; i++) {
      const timestamp = records[i]?.timestamp ?? stampMs
      if (timestamp > maxTimestamp) maxTimestamp = timestamp
      if (timestamp !== first) flags = ownTimestamps
    }
  }
  const stampBytes = flags === 0 ? 0 : 8 * (to - from)
  // Not from Buffer's pool: a small batch in the tail cache would hold a whole slab.
  const value = Buffer.allocUnsafeSlow(headerBytes + names.encodedBytes + bytes + stampBytes)
  writeFixed(value, flags, to - from, to - from)
  let at = names.write(value, headerBytes)
  for (let i = from; i < to; i++) {
    const record = records[i] as NewRecord
    if (flags !== 0) at = value.writeDoubleBE(record.timestamp ?? (stampMs as number), at)
    at = writeRecord(value, at, record, names)
  }
  return { value, span: to - from, maxTimestamp }
}

/** Encodes what compaction left of one or several neighbouring batches, sealed, with their own offsets and timestamps. */
export function encodeKept(records: readonly LogRecord[], base: number, next: number, seal: Seal): StoredBatch {
  const names = new HeaderNames()
  let bytes = 0
  for (const record of records) {
    bytes += varintBytes(record.offset - base) + 8 + sizeOf(record, record.offset, names, Infinity)
  }
  const value = Buffer.allocUnsafeSlow(headerBytes + names.encodedBytes + bytes)
  writeFixed(value, ownTimestamps | ownOffsets, records.length, next - base)
  let at = names.write(value, headerBytes)
  for (const record of records) {
    at = writeVarint(value, at, record.offset - base)
    at = value.writeDoubleBE(record.timestamp, at)
    at = writeRecord(value, at, record, names)
  }
  sealBatch(value, seal)
  return { base, next, value }
}

function writeFixed(value: Buffer, flags: number, count: number, span: number): void {
  value[0] = version
  value[1] = flags
  value.writeUInt32BE(count, 2)
  value.writeUIntBE(span, 6, 6)
}

export function sealBatch(value: Buffer, seal: Seal): void {
  value.writeDoubleBE(seal.appendedAt, 12)
  value.writeDoubleBE(seal.maxTimestamp, 20)
  value.writeDoubleBE(seal.highestTimestamp, 28)
  value.writeDoubleBE(seal.endBytes, 36)
}

export function sealOf(value: Buffer): Seal {
  return {
    appendedAt: value.readDoubleBE(12),
    maxTimestamp: value.readDoubleBE(20),
    highestTimestamp: value.readDoubleBE(28),
    endBytes: value.readDoubleBE(36),
  }
}

/** Errors: LOG_DAMAGED when the value is not a batch of ours. */
export function storedBatch(base: number, value: Buffer): StoredBatch {
  if (value.length < headerBytes || value[0] !== version) {
    throw new LogError('LOG_DAMAGED', `the batch at offset ${base} is not readable`, { details: { offset: base } })
  }
  return { base, next: base + value.readUIntBE(6, 6), value }
}

/**
 * Adds the records from offset `from` on to `into` until the budget is used up; a first record is taken in any case.
 * Returns the offset to read on from. Keys and values are views of the batch.
 */
export function decodeRecords(batch: StoredBatch, from: number, budget: ReadBudget, into: LogRecord[]): number {
  const { base, value } = batch
  const flags = value[1] as number
  const count = value.readUInt32BE(2)
  const common = value.readDoubleBE(20)
  const reader = new RecordReader(value, headerBytes)
  const names = readHeaderNames(reader)
  let headers = noHeaders
  for (let i = 0; i < count; i++) {
    const startsAt = reader.at
    const offset = base + ((flags & ownOffsets) === 0 ? i : reader.varint())
    const timestamp = (flags & ownTimestamps) === 0 ? common : reader.double()
    if (offset < from) {
      reader.skipRecord()
      continue
    }
    if (into.length > 0 && (budget.records <= 0 || budget.bytes <= 0)) return offset
    const key = reader.bytesOrNull()
    const content = reader.bytesOrNull()
    headers = reader.headers(names, headers)
    const record = { offset, timestamp, key, value: content, headers }
    const size = reader.at - startsAt
    if (into.length > 0 && size > budget.bytes) return offset
    budget.records--
    budget.bytes -= size
    into.push(record)
  }
  return batch.next
}
