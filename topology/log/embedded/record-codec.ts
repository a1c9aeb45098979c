import { LogError } from '../errors.js'
import type { Headers, NewRecord } from '../log.js'
import type { HeaderNames } from './header-names.js'

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

  bytesOrNull(): Buffer | null {
    const length = this.varint()
    return length === 0 ? null : this.bytes(length - 1)
  }

  /** Headers that are as those of the record before (in the same places) are the same objects. */
  headers(names: readonly string[], before: Headers): Headers {
    const count = this.varint()
    if (count === 0) return noHeaders
    const headers: (readonly [string, Buffer])[] = []
    for (let i = 0; i < count; i++) {
      const name = names[this.varint()]
      if (name === undefined) throw new LogError('LOG_DAMAGED', 'a header of a batch has no name')
      const bytes = this.varint()
      const same = before[i]
      headers.push(same?.[0] === name && this.#takeEqual(same[1], bytes) ? same : [name, this.bytes(bytes)])
    }
    return headers
  }

  skipRecord(): void {
    this.#skip(this.varint() - 1)
    this.#skip(this.varint() - 1)
    for (let headers = this.varint(); headers > 0; headers--) {
      this.varint()
      this.#skip(this.varint())
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

  #skip(bytes: number): void {
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

/** Bytes of a record as encoded; its header names are added to `names`. Errors: RECORD_TOO_LARGE. */
export function sizeOf(record: NewRecord, index: number, names: HeaderNames, maxRecordBytes: number): number {
  const { key, value, headers = noHeaders } = record
  let content = (key?.length ?? 0) + (value?.length ?? 0)
  let nameBytes = 0
  let numbers =
    varintBytes(key === null ? 0 : key.length + 1) +
    varintBytes(value === null ? 0 : value.length + 1) +
    varintBytes(headers.length)
  for (const [name, header] of headers) {
    const number = names.add(name)
    nameBytes += names.lengthOf(number)
    content += header.length
    numbers += varintBytes(number) + varintBytes(header.length)
  }
  if (content + nameBytes > maxRecordBytes) {
    throw new LogError(
      'RECORD_TOO_LARGE',
      `record ${index} has ${content + nameBytes} bytes, the bound is ${maxRecordBytes}`,
      {
        details: { index, bytes: content + nameBytes, maxRecordBytes },
      },
    )
  }
  return content + numbers
}

export function writeRecord(out: Buffer, from: number, record: NewRecord, names: HeaderNames): number {
  const { key, value, headers = noHeaders } = record
  let at = writeBytesOrNull(out, from, key)
  at = writeBytesOrNull(out, at, value)
  at = writeVarint(out, at, headers.length)
  for (const [name, header] of headers) {
    at = writeVarint(out, at, names.add(name))
    at = writeVarint(out, at, header.length)
    at = writeBytes(out, at, header)
  }
  return at
}

function writeBytesOrNull(out: Buffer, at: number, bytes: Buffer | null): number {
  if (bytes === null) return writeVarint(out, at, 0)
  at = writeVarint(out, at, bytes.length + 1)
  return writeBytes(out, at, bytes)
}

/** Up to here a loop costs less than a call out of JavaScript. */
const FEW_BYTES = 64

function writeBytes(out: Buffer, at: number, bytes: Buffer): number {
  const { length } = bytes
  if (length > FEW_BYTES) out.set(bytes, at)
  else for (let i = 0; i < length; i++) out[at + i] = bytes[i] as number
  return at + length
}

export function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}

export function writeVarint(out: Buffer, at: number, value: number): number {
  let rest = value
  while (rest >= 0x80) {
    out[at++] = (rest % 0x80) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  out[at++] = rest
  return at
}
