import { LogError } from '../errors.js'
import type { Headers, NewRecord } from '../log.js'
import { HeaderNames } from './header-names.js'
import { writeVarint } from './varint.js'

/*
 * A record: key, value, header count, then of each header the number of its name and its value. Bytes stand behind their
 * length as a varint; key and value behind their length plus one, 0 being null.
 */

export const noHeaders: Headers = Object.freeze([])

/** Goes over encoded records one field after the other. Errors: LOG_DAMAGED when a field reaches beyond the bytes. */
export class RecordReader {
  at: number

  constructor(
    private readonly value: Buffer,
    from: number,
  ) {
    this.at = from
  }

  varint(): number {
    const { value } = this
    let byte = value[this.at++] as number
    if (byte < 0x80) return byte
    let result = byte & 0x7f
    let scale = 0x80
    do {
      byte = value[this.#advance(1)] as number
      result += (byte & 0x7f) * scale
      scale *= 0x80
    } while (byte >= 0x80)
    return result
  }

  double(): number {
    const from = this.#advance(8)
    return this.value.readDoubleBE(from)
  }

  bytes(length: number): Buffer {
    const from = this.#advance(length)
    return this.value.subarray(from, this.at)
  }

  /** What was gone over since `from`, a character for each byte. */
  latin1From(from: number): string {
    return this.value.toString('latin1', from, this.at)
  }

  bytesOrNull(): Buffer | null {
    const length = this.varint()
    return length === 0 ? null : this.bytes(length - 1)
  }

  /** Headers that are as those of the record before (in the same places) are the same objects. */
  headers(names: readonly string[], before: Headers): Headers {
    const count = this.varint()
    if (count === 0) return noHeaders
    if (count > this.value.length - this.at) throw new LogError('LOG_DAMAGED', 'a record has more headers than bytes')
    // Made at its length: one that grows takes three times the memory.
    const headers = new Array<readonly [string, Buffer]>(count)
    for (let i = 0; i < count; i++) {
      const name = names[this.varint()]
      if (name === undefined) throw new LogError('LOG_DAMAGED', 'a header of a batch has no name')
      const bytes = this.varint()
      const same = before[i]
      headers[i] = same?.[0] === name && this.#takeEqual(same[1], bytes) ? same : [name, this.bytes(bytes)]
    }
    return headers
  }

  skipRecord(): void {
    this.skip(this.varint() - 1)
    this.skip(this.varint() - 1)
    for (let headers = this.varint(); headers > 0; headers--) {
      this.varint()
      this.skip(this.varint())
    }
  }

  /** Moves over the next bytes where they equal those given. */
  #takeEqual(given: Buffer, length: number): boolean {
    const { value, at } = this
    if (given.length !== length || at + length > value.length) return false
    // From the end: what differs mostly differs there.
    for (let i = length - 1; i >= 0; i--) if (value[at + i] !== given[i]) return false
    this.at += length
    return true
  }

  skip(bytes: number): void {
    if (bytes > 0) this.#advance(bytes)
  }

  /** Moves on and answers the former place. */
  #advance(bytes: number): number {
    const from = this.at
    this.at += bytes
    if (this.at > this.value.length) throw new LogError('LOG_DAMAGED', 'a batch ends in the middle of a record')
    return from
  }
}

/** The buffer that batches are put together in, for the next one: encoding a batch is one synchronous step. */
let scratch = Buffer.allocUnsafeSlow(512 * 1024)
/** A larger one is not kept. */
const KEPT_SCRATCH_BYTES = 2 * 1024 * 1024
const VARINT_BYTES = 8
/** Up to here a loop costs less than a call out of JavaScript. */
const FEW_BYTES = 64

/** Puts the records of one batch together, in one pass; nothing else is encoded before it is taken. */
export class RecordWriter {
  readonly #names = new HeaderNames()
  #out = scratch
  /** Bytes written: the records' so far. */
  at = 0

  varint(value: number): void {
    this.#makeRoom(VARINT_BYTES)
    this.at = writeVarint(this.#out, this.at, value)
  }

  double(value: number): void {
    this.#makeRoom(8)
    this.at = this.#out.writeDoubleBE(value, this.at)
  }

  /** Errors: RECORD_TOO_LARGE, which names the record by `index`. */
  record({ key, value, headers = noHeaders }: NewRecord, index: number, maxRecordBytes: number): void {
    let bytes = (key?.length ?? 0) + (value?.length ?? 0)
    if (bytes > maxRecordBytes) throw tooLarge(index, bytes, maxRecordBytes)
    this.#bytesOrNull(key)
    this.#bytesOrNull(value)
    this.varint(headers.length)
    for (let place = 0; place < headers.length; place++) {
      const [name, header] = headers[place] as Headers[number]
      const number = this.#names.add(name, place)
      bytes += this.#names.lengthOf(number) + header.length
      if (bytes > maxRecordBytes) throw tooLarge(index, sizeOf({ key, value, headers }), maxRecordBytes)
      this.varint(number)
      this.varint(header.length)
      this.#bytes(header)
    }
  }

  /** Header names and records behind `headBytes` bytes that are still to be written. */
  take(headBytes: number): Buffer {
    // Not from Buffer's pool: a small batch in the tail cache would hold a whole slab.
    const batch = Buffer.allocUnsafeSlow(headBytes + this.#names.encodedBytes + this.at)
    const from = this.#names.write(batch, headBytes)
    this.#out.copy(batch, from, 0, this.at)
    return batch
  }

  #bytesOrNull(bytes: Buffer | null): void {
    if (bytes === null) {
      this.varint(0)
    } else {
      this.varint(bytes.length + 1)
      this.#bytes(bytes)
    }
  }

  #bytes(bytes: Buffer): void {
    const { length } = bytes
    this.#makeRoom(length)
    const { at } = this
    const out = this.#out
    if (length > FEW_BYTES) out.set(bytes, at)
    else for (let i = 0; i < length; i++) out[at + i] = bytes[i] as number
    this.at = at + length
  }

  #makeRoom(bytes: number): void {
    if (this.at + bytes <= this.#out.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#out.length, this.at + bytes))
    this.#out.copy(larger, 0, 0, this.at)
    this.#out = larger
    if (larger.length <= KEPT_SCRATCH_BYTES) scratch = larger
  }
}

function sizeOf({ key, value, headers = noHeaders }: NewRecord): number {
  const sizes = headers.map(([name, header]) => Buffer.byteLength(name) + header.length)
  return sizes.reduce((sum, size) => sum + size, (key?.length ?? 0) + (value?.length ?? 0))
}

function tooLarge(index: number, bytes: number, maxRecordBytes: number): LogError {
  return new LogError('RECORD_TOO_LARGE', `record ${index} has ${bytes} bytes, the bound is ${maxRecordBytes}`, {
    details: { index, bytes, maxRecordBytes },
  })
}
