import { crc32 } from 'node:zlib'
import { LogError } from '../errors.js'
import type { Headers, LogRecord, NewRecord } from '../log.js'
import { readHeaderNames, skipHeaderNames } from './header-names.js'
import { RecordReader, RecordWriter } from './record-codec.js'
import { baseOffsetOf } from './rows.js'

/*
 * One stored value holds the records of one append (or a slice of a long one):
 *
 *   0 version, 1 flags, 2 record count (4), 6 span: offsets covered (6), 12 append time (8), 20 highest timestamp of the
 *   batch (8), 28 highest timestamp of the partition up to here (8), 36 bytes ever written to the partition up to here (8),
 *   44 CRC-32 of the key and all other bytes (4), 48 header names, records
 *
 * RocksDB checks no checksums of what it walks over, so a batch has its own, which also tells that it is in its place.
 * The two running values make each question "which is the first batch from where ..." a binary search.
 */
const version = 2
const checksumAt = 44
const headerBytes = 48
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
  const flags = stampMs !== 'log' && hasOwnTimestamps(records, stampMs) ? ownTimestamps : 0
  for (let from = 0; from < records.length; from += batches.at(-1)?.span ?? 0) {
    batches.push(encodeBatch(records, from, stampMs, flags, maxRecordBytes))
  }
  return batches
}

/** As many records from `from` on as a batch takes. */
function encodeBatch(
  records: readonly NewRecord[],
  from: number,
  stampMs: number | 'log',
  flags: number,
  maxRecordBytes: number,
): EncodedBatch {
  const writer = new RecordWriter()
  const end = Math.min(from + maxBatchRecords, records.length)
  let maxTimestamp = -1
  let to = from
  for (; to < end && writer.at < fullBatchBytes; to++) {
    const record = records[to] as NewRecord
    if (stampMs !== 'log') {
      const timestamp = record.timestamp ?? stampMs
      if (timestamp > maxTimestamp) maxTimestamp = timestamp
      if (flags !== 0) writer.double(timestamp)
    }
    writer.record(record, to, maxRecordBytes)
  }
  const value = writer.take(headerBytes)
  writeFixed(value, flags, to - from, to - from)
  return { value, span: to - from, maxTimestamp }
}

function hasOwnTimestamps(records: readonly NewRecord[], stampMs: number): boolean {
  const first = records[0]?.timestamp ?? stampMs
  return records.some(({ timestamp }) => (timestamp ?? stampMs) !== first)
}

/** Encodes what compaction left of one or several neighbouring batches, sealed, with their own offsets and timestamps. */
export function encodeKept(records: readonly LogRecord[], key: Buffer, next: number, seal: Seal): StoredBatch {
  const base = baseOffsetOf(key)
  const writer = new RecordWriter()
  for (const record of records) {
    writer.varint(record.offset - base)
    writer.double(record.timestamp)
    writer.record(record, record.offset, Infinity)
  }
  const value = writer.take(headerBytes)
  writeFixed(value, ownTimestamps | ownOffsets, records.length, next - base)
  sealBatch(value, seal, key)
  return { base, next, value }
}

function writeFixed(value: Buffer, flags: number, count: number, span: number): void {
  value[0] = version
  value[1] = flags
  value.writeUInt32BE(count, 2)
  value.writeUIntBE(span, 6, 6)
}

/** `key`: of the row that the batch will be. */
export function sealBatch(value: Buffer, seal: Seal, key: Buffer): void {
  value.writeDoubleBE(seal.appendedAt, 12)
  value.writeDoubleBE(seal.maxTimestamp, 20)
  value.writeDoubleBE(seal.highestTimestamp, 28)
  value.writeDoubleBE(seal.endBytes, 36)
  value.writeUInt32BE(checksumOf(value, key), checksumAt)
}

function checksumOf(value: Buffer, key: Buffer): number {
  return crc32(value.subarray(headerBytes), crc32(value.subarray(0, checksumAt), crc32(key)))
}

export function sealOf(value: Buffer): Seal {
  return {
    appendedAt: value.readDoubleBE(12),
    maxTimestamp: value.readDoubleBE(20),
    highestTimestamp: value.readDoubleBE(28),
    endBytes: value.readDoubleBE(36),
  }
}

/** Errors: LOG_DAMAGED when the row is not a batch as it was written. */
export function storedBatch(key: Buffer, value: Buffer): StoredBatch {
  const base = baseOffsetOf(key)
  const isWhole = value.length >= headerBytes && value[0] === version
  if (!isWhole || value.readUInt32BE(checksumAt) !== checksumOf(value, key)) {
    throw new LogError('LOG_DAMAGED', `the batch at offset ${base} is not as it was written`, {
      details: { offset: base },
    })
  }
  return { base, next: base + value.readUIntBE(6, 6), value }
}

/** Consecutive records of one stored batch. */
export interface BatchPart {
  readonly batch: StoredBatch
  /** The number of the first of them in the batch, and where it begins in the batch's bytes. */
  readonly index: number
  readonly at: number
  readonly count: number
  /** The offset to read on from. */
  readonly next: number
}

/** The records from offset `from` on until the budget, which is reduced, is used up; a `first` record is taken in any case. */
export function partOf(batch: StoredBatch, from: number, budget: ReadBudget, first: boolean): BatchPart {
  const { base, value } = batch
  const total = value.readUInt32BE(2)
  if (from <= base && total <= budget.records && value.length <= budget.bytes) {
    budget.records -= total
    budget.bytes -= value.length
    return { batch, index: 0, at: afterNames(value), count: total, next: batch.next }
  }
  const reader = new BatchReader(batch, afterNames(value))
  let { at } = reader
  let index = 0
  let count = 0
  for (let i = 0; i < total; i++) {
    const startsAt = reader.at
    const offset = reader.skip(i)
    if (offset < from) {
      at = reader.at
      index = i + 1
      continue
    }
    const size = reader.at - startsAt
    const isTaken = first && count === 0
    if (!isTaken && (budget.records <= 0 || size > budget.bytes)) return { batch, index, at, count, next: offset }
    budget.records--
    budget.bytes -= size
    count++
  }
  return { batch, index, at, count, next: batch.next }
}

/** Reads the records of a stored batch one after the other. Keys and values are views of the batch. Errors: LOG_DAMAGED. */
export class BatchReader {
  readonly #reader: RecordReader
  readonly #names: readonly string[]
  readonly #base: number
  readonly #common: number
  readonly #hasOwnOffsets: boolean
  readonly #hasOwnTimestamps: boolean

  constructor({ base, value }: StoredBatch, at: number) {
    const flags = value[1] as number
    this.#base = base
    this.#common = value.readDoubleBE(20)
    this.#hasOwnOffsets = (flags & ownOffsets) !== 0
    this.#hasOwnTimestamps = (flags & ownTimestamps) !== 0
    this.#reader = new RecordReader(value, headerBytes)
    this.#names = readHeaderNames(this.#reader)
    this.#reader.at = at
  }

  get at(): number {
    return this.#reader.at
  }

  /** The record at hand, the one with number `index` in its batch; headers that are as those of `before` are the same objects. */
  next(index: number, before: Headers): LogRecord {
    const reader = this.#reader
    const offset = this.#base + (this.#hasOwnOffsets ? reader.varint() : index)
    const timestamp = this.#hasOwnTimestamps ? reader.double() : this.#common
    const key = reader.bytesOrNull()
    const value = reader.bytesOrNull()
    return { offset, timestamp, key, value, headers: reader.headers(this.#names, before) }
  }

  /** Goes over a record; answers its offset. */
  skip(index: number): number {
    const reader = this.#reader
    const offset = this.#base + (this.#hasOwnOffsets ? reader.varint() : index)
    if (this.#hasOwnTimestamps) reader.double()
    reader.skipRecord()
    return offset
  }
}

function afterNames(value: Buffer): number {
  const reader = new RecordReader(value, headerBytes)
  skipHeaderNames(reader)
  return reader.at
}
