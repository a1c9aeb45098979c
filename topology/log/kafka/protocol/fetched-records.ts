import { AvroReader } from '../../../../schemas/avro-bytes.js'
import { LogError } from '../../errors.js'
import type { Headers, LogRecord, Records } from '../../log.js'

/** What the records of a batch have in common, and where each of them begins. */
export interface FetchedBody {
  readonly baseOffset: number
  readonly baseTimestamp: number
  /** Of all its records; undefined: each has its own. */
  readonly logAppendTime: number | undefined
  /** Not compressed. */
  readonly bytes: Buffer
  readonly starts: Int32Array
}

const noHeaders: Headers = Object.freeze([])
const noBytes = Buffer.alloc(0)
/** Up to here bytes are compared with those of the record before. */
const fewBytes = 64

/**
 * Fetched records, which share memory with what was fetched. Each is made when it is asked for, so that those under way at
 * a time are few; what is as in the record before is the same object. Errors of all that makes records: LOG_DAMAGED.
 */
export class FetchedRecords implements Records {
  readonly #bodies: readonly FetchedBody[]
  readonly #from: number
  readonly #to: number

  /** Those with index `from` to `to` (exclusive). */
  constructor(
    bodies: readonly FetchedBody[],
    from = 0,
    to = bodies.reduce((sum, { starts }) => sum + starts.length, 0),
  ) {
    this.#bodies = bodies
    this.#from = from
    this.#to = to
  }

  get length(): number {
    return this.#to - this.#from
  }

  at(index: number): LogRecord | undefined {
    const from = this.#from + (index < 0 ? index + this.length : index)
    if (from < this.#from || from >= this.#to) return undefined
    for (const record of new FetchedRecords(this.#bodies, from, from + 1)) return record
    return undefined
  }

  slice(from: number): FetchedRecords {
    return new FetchedRecords(this.#bodies, Math.min(this.#from + from, this.#to), this.#to)
  }

  /** The first ones up to these bounds, at least one; `bytes` are those of the records as they were sent. */
  take(maxRecords: number, maxBytes: number): { readonly records: FetchedRecords; readonly bytes: number } {
    let bytes = 0
    let to = this.#from
    for (const { body, from, end } of this.#parts()) {
      for (let i = from; i < end; i++) {
        const size = (body.starts[i + 1] ?? body.bytes.length) - (body.starts[i] as number)
        const isFull = to - this.#from >= maxRecords || bytes + size > maxBytes
        if (to > this.#from && isFull) return { records: new FetchedRecords(this.#bodies, this.#from, to), bytes }
        bytes += size
        to++
      }
    }
    return { records: this, bytes }
  }

  *[Symbol.iterator](): Generator<LogRecord> {
    let before: LogRecord | undefined
    for (const { body, from, end } of this.#parts()) {
      const reader = new AvroReader(body.bytes)
      for (let i = from; i < end; i++) {
        reader.moveTo(body.starts[i] as number)
        before = readRecord(reader, body, before)
        yield before
      }
    }
  }

  *#parts(): Generator<{ readonly body: FetchedBody; readonly from: number; readonly end: number }> {
    let first = 0
    for (const body of this.#bodies) {
      const from = Math.max(0, this.#from - first)
      const end = Math.min(body.starts.length, this.#to - first)
      if (from < end) yield { body, from, end }
      first += body.starts.length
    }
  }
}

/**
 * Where those records of a batch begin that are at or beyond `offset`. Kafka writes numbers and texts as Avro does. Errors:
 * LOG_DAMAGED.
 */
export function startsOf(bytes: Buffer, count: number, baseOffset: number, offset: number): Int32Array {
  if (count < 0 || count > bytes.length) throw damaged(`it tells of ${count} records in ${bytes.length} bytes`)
  const starts = new Int32Array(count)
  const reader = new AvroReader(bytes)
  let found = 0
  try {
    for (let i = 0; i < count; i++) {
      const start = reader.at
      const length = reader.length()
      const end = reader.at + length
      if (found > 0 || baseOffset >= offset || baseOffset + offsetDelta(reader) >= offset) starts[found++] = start
      reader.moveTo(end)
    }
    return starts.subarray(0, found)
  } catch (error) {
    throw readError(error)
  }
}

function offsetDelta(reader: AvroReader): number {
  reader.byte()
  reader.long()
  return reader.long()
}

function readRecord(reader: AvroReader, body: FetchedBody, before: LogRecord | undefined): LogRecord {
  const { baseOffset, baseTimestamp, logAppendTime } = body
  try {
    reader.length()
    reader.byte()
    const timestamp = baseTimestamp + reader.long()
    const offset = baseOffset + reader.long()
    const key = readBytes(reader, undefined)
    const value = readBytes(reader, before?.value)
    return { offset, timestamp: logAppendTime ?? timestamp, key, value, headers: readHeaders(reader, before?.headers) }
  } catch (error) {
    throw readError(error)
  }
}

function readHeaders(reader: AvroReader, before: Headers = noHeaders): Headers {
  const count = reader.length()
  if (count === 0) return noHeaders
  if (count > reader.left) throw new RangeError(`${count} headers`)
  // Made at its length: one that grows takes three times the memory.
  const headers = new Array<readonly [string, Buffer]>(count)
  for (let i = 0; i < count; i++) {
    const same = before[i]
    const name = reader.string(same?.[0] ?? '')
    const value = readBytes(reader, same?.[1]) ?? noBytes
    headers[i] = same !== undefined && name === same[0] && value === same[1] ? same : [name, value]
  }
  return headers
}

function readBytes(reader: AvroReader, before: Buffer | null | undefined): Buffer | null {
  const length = reader.long()
  if (length < 0) return null
  if (before == null || length > fewBytes || !reader.isNext(before, length)) return reader.slice(length)
  reader.moveTo(reader.at + length)
  return before
}

function readError(error: unknown): unknown {
  return error instanceof RangeError ? damaged('a record reaches beyond its batch', error) : error
}

function damaged(why: string, cause?: unknown): LogError {
  return new LogError('LOG_DAMAGED', `a batch is damaged: ${why}`, cause === undefined ? {} : { cause })
}
