import { createHash } from 'node:crypto'
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

function checksumOf({ key, value, headers }: LogRecord): string {
  const hash = createHash('sha256')
  for (const part of [key, value, ...headers.flatMap(([name, bytes]) => [Buffer.from(name), bytes])]) {
    hash.update(`${part === null ? -1 : part.length};`)
    if (part !== null) hash.update(part)
  }
  return hash.digest('base64').slice(0, 16)
}
