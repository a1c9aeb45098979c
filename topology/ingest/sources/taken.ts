import { hash } from 'node:crypto'
import { ReusedBytes } from '../../../common/reused-bytes.js'
import type { GroupPosition, LogRecord } from '../../log/log.js'

/** The last record that was taken from a source partition, as the group keeps it beside its position. */
export interface Taken {
  /** Of the source, as it was then. */
  readonly incarnation: string
  readonly offset: number
  readonly timestamp: number
  readonly checksum: string
}

/** A group position behind `last`, with what is needed to know that record again. */
export function positionBehind(last: LogRecord, next: number, incarnation: string): GroupPosition {
  const { offset, timestamp } = last
  const taken: Taken = { incarnation, offset, timestamp, checksum: checksumOf(last) }
  return { offset: next, metadata: JSON.stringify(taken) }
}

/** Undefined where the position was not committed by an ingest of ours. */
export function takenOf({ metadata }: GroupPosition): Taken | undefined {
  try {
    return JSON.parse(metadata) as Taken
  } catch {
    return undefined
  }
}

export function isSame({ timestamp, checksum }: Taken, record: LogRecord): boolean {
  return record.timestamp === timestamp && checksumOf(record) === checksum
}

const hashed = new ReusedBytes()

/** In one piece: a hash that is fed piece by piece costs as much as all else of a small batch. */
function checksumOf({ key, value, headers }: LogRecord): string {
  let bytes = withLength(key) + withLength(value)
  for (const [name, header] of headers) bytes += withLength(Buffer.from(name)) + withLength(header)
  return hash('sha256', hashed.latin1(bytes), 'base64').slice(0, 16)
}

/** A part's bytes as latin1, behind their number. */
function withLength(part: Buffer | null): string {
  return part === null ? '-1;' : `${part.length};${part.toString('latin1')}`
}
