import type { Headers, LogRecord, NewRecord } from '../log.js'
import { LogError } from '../errors.js'

/*
 * One stored value holds the records of one append (or a slice of a long one):
 *
 *   0 version, 1 flags, 2 record count (4), 6 span: offsets covered (6), 12 append time (8), 20 highest timestamp of the
 *   batch (8), 28 highest timestamp of the partition up to here (8), 36 bytes ever written to the partition up to here (8),
 *   44 records
 *
 * The two running values make each question "which is the first batch from where ..." a binary search.
 */
const version = 1
const headerBytes = 44
const ownTimestamps = 1
const ownOffsets = 2

const maxBatchRecords = 1_000
const maxBatchBytes = 262_144

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

const noHeaders: Headers = Object.freeze([])

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
  let from = 0
  let bytes = 0
  for (let i = 0; i < records.length; i++) {
    const size = sizeOf(records[i] as NewRecord, i, maxRecordBytes)
    if (i > from && (bytes + size > maxBatchBytes || i - from === maxBatchRecords)) {
      batches.push(encodeSlice(records, from, i, bytes, stampMs))
      from = i
      bytes = 0
    }
    bytes += size
  }
  if (records.length > from) batches.push(encodeSlice(records, from, records.length, bytes, stampMs))
  return batches
}

function encodeSlice(
  records: readonly NewRecord[],
  from: number,
  to: number,
  recordBytes: number,
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
  // Not from Buffer's pool: a small batch in the tail cache would hold a whole slab.
  const value = Buffer.allocUnsafeSlow(headerBytes + recordBytes + (flags === 0 ? 0 : 8 * (to - from)))
  writeFixed(value, flags, to - from, to - from)
  let at = headerBytes
  for (let i = from; i < to; i++) {
    const record = records[i] as NewRecord
    if (flags !== 0) at = value.writeDoubleBE(record.timestamp ?? (stampMs as number), at)
    at = writeRecord(value, at, record)
  }
  return { value, span: to - from, maxTimestamp }
}

/** Encodes what compaction left of one or several neighbouring batches, sealed, with their own offsets and timestamps. */
export function encodeKept(records: readonly LogRecord[], base: number, next: number, seal: Seal): StoredBatch {
  let size = headerBytes
  for (const record of records) {
    size += 8 + varintBytes(record.offset - base) + sizeOf(record, record.offset, Infinity)
  }
  const value = Buffer.allocUnsafeSlow(size)
  writeFixed(value, ownTimestamps | ownOffsets, records.length, next - base)
  let at = headerBytes
  for (const record of records) {
    at = writeVarint(value, at, record.offset - base)
    at = value.writeDoubleBE(record.timestamp, at)
    at = writeRecord(value, at, record)
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
  const reader = new RecordReader(value)
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
    const record = { offset, timestamp, key, value: content, headers: reader.headers() }
    const size = reader.at - startsAt
    if (into.length > 0 && size > budget.bytes) return offset
    budget.records--
    budget.bytes -= size
    into.push(record)
  }
  return batch.next
}

class RecordReader {
  at = headerBytes

  constructor(private readonly value: Buffer) {}

  varint(): number {
    const { value } = this
    let byte = value[this.at++] as number
    if (byte < 0x80) return byte
    let result = byte & 0x7f
    let scale = 0x80
    do {
      if (this.at >= value.length) throw new LogError('LOG_DAMAGED', 'a batch ends in the middle of a record')
      byte = value[this.at++] as number
      result += (byte & 0x7f) * scale
      scale *= 0x80
    } while (byte >= 0x80)
    return result
  }

  double(): number {
    const result = this.value.readDoubleBE(this.at)
    this.at += 8
    return result
  }

  bytes(length: number): Buffer {
    const from = this.at
    this.at += length
    if (this.at > this.value.length) throw new LogError('LOG_DAMAGED', 'a batch ends in the middle of a record')
    return this.value.subarray(from, this.at)
  }

  bytesOrNull(): Buffer | null {
    const length = this.varint()
    return length === 0 ? null : this.bytes(length - 1)
  }

  headers(): Headers {
    const count = this.varint()
    if (count === 0) return noHeaders
    const headers: [string, Buffer][] = []
    for (let i = 0; i < count; i++) {
      const nameBytes = this.varint()
      const name = this.value.toString('utf8', this.at, this.at + nameBytes)
      this.at += nameBytes
      headers.push([name, this.bytes(this.varint())])
    }
    return headers
  }

  skipRecord(): void {
    this.#skip(this.varint() - 1)
    this.#skip(this.varint() - 1)
    for (let fields = 2 * this.varint(); fields > 0; fields--) this.#skip(this.varint())
  }

  #skip(bytes: number): void {
    if (bytes > 0) this.at += bytes
  }
}

function sizeOf(record: NewRecord, index: number, maxRecordBytes: number): number {
  const { key, value, headers = noHeaders } = record
  let content = (key?.length ?? 0) + (value?.length ?? 0)
  let lengths =
    varintBytes(key === null ? 0 : key.length + 1) +
    varintBytes(value === null ? 0 : value.length + 1) +
    varintBytes(headers.length)
  for (const [name, header] of headers) {
    const nameBytes = Buffer.byteLength(name)
    content += nameBytes + header.length
    lengths += varintBytes(nameBytes) + varintBytes(header.length)
  }
  if (content > maxRecordBytes) {
    throw new LogError('RECORD_TOO_LARGE', `record ${index} has ${content} bytes, the bound is ${maxRecordBytes}`, {
      details: { index, bytes: content, maxRecordBytes },
    })
  }
  return content + lengths
}

function writeRecord(out: Buffer, from: number, record: NewRecord): number {
  const { key, value, headers = noHeaders } = record
  let at = writeBytesOrNull(out, from, key)
  at = writeBytesOrNull(out, at, value)
  at = writeVarint(out, at, headers.length)
  for (const [name, header] of headers) {
    at = writeVarint(out, at, Buffer.byteLength(name))
    at += out.write(name, at)
    at = writeVarint(out, at, header.length)
    out.set(header, at)
    at += header.length
  }
  return at
}

function writeBytesOrNull(out: Buffer, at: number, bytes: Buffer | null): number {
  if (bytes === null) return writeVarint(out, at, 0)
  at = writeVarint(out, at, bytes.length + 1)
  out.set(bytes, at)
  return at + bytes.length
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}

function writeVarint(out: Buffer, at: number, value: number): number {
  let rest = value
  while (rest >= 0x80) {
    out[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  out[at++] = rest
  return at
}
