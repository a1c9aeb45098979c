import type { LogRecord, Records } from '../log.js'
import { BatchReader, partOf } from './batch-codec.js'
import type { BatchPart, StoredBatch } from './batch-codec.js'
import { noHeaders } from './record-codec.js'

/**
 * Records of neighbouring stored batches, which share memory with these. Each is made when it is asked for, so that those
 * under way at a time are few; headers that are as in the record before are the same objects. Errors of all that makes
 * records: LOG_DAMAGED.
 */
export class StoredRecords implements Records {
  readonly length: number
  readonly #parts: readonly BatchPart[]

  constructor(parts: readonly BatchPart[]) {
    this.#parts = parts
    this.length = parts.reduce((sum, { count }) => sum + count, 0)
  }

  at(index: number): LogRecord | undefined {
    let left = index < 0 ? index + this.length : index
    if (left < 0) return undefined
    for (const part of this.#parts) {
      if (left < part.count) {
        const reader = new BatchReader(part.batch, part.at)
        for (let i = 0; i < left; i++) reader.skip(part.index + i)
        return reader.next(part.index + left, noHeaders)
      }
      left -= part.count
    }
    return undefined
  }

  *[Symbol.iterator](): Generator<LogRecord> {
    let headers = noHeaders
    for (const { batch, index, at, count } of this.#parts) {
      const reader = new BatchReader(batch, at)
      for (let i = 0; i < count; i++) {
        const record = reader.next(index + i, headers)
        headers = record.headers
        yield record
      }
    }
  }
}

/** The records of a batch from an offset on. */
export function recordsOf(batch: StoredBatch, from = batch.base): LogRecord[] {
  const unbounded = { records: Infinity, bytes: Infinity }
  return [...new StoredRecords([partOf(batch, from, unbounded, true)])]
}
