import type { Log, LogRecord, RecordBatch } from '../../topology/log/log.js'
import type { EndsWatch } from './ends-watch.js'

export interface TailedRecord {
  readonly record: LogRecord
  /** Offsets to go on from, one a partition, once this record is taken. */
  readonly next: readonly number[]
}

export interface TailOptions {
  readonly log: Log
  readonly ends: EndsWatch
  readonly topic: string
  /** Where to begin, one a partition. */
  readonly from: readonly number[]
  /** Longest silence, ms: then 'idle' comes. */
  readonly idleMs: number
  readonly signal: AbortSignal
}

const MAX_RECORDS = 500
const MAX_BYTES = 256 * 1024

/**
 * Follows a topic as it grows, until the signal is aborted: records in the order of each partition, and 'idle' where nothing
 * came for a while. What retention deleted before it was read is passed over. Reads only as fast as it is asked.
 */
export async function* tail(options: TailOptions): AsyncGenerator<TailedRecord | 'idle'> {
  const { ends, signal, from } = options
  const next = [...from]
  const isOver = (): boolean => signal.aborted
  while (!isOver()) {
    let found = false
    for (const partition of next.keys()) {
      const batch = await readOn(options, partition, next[partition] ?? 0)
      for (const record of batch?.records ?? []) {
        if (isOver()) return
        next[partition] = record.offset + 1
        found = true
        yield { record, next: [...next] }
      }
      next[partition] = batch?.next ?? next[partition] ?? 0
    }
    if (!found && !(await ends.moved(options.idleMs, signal)) && !isOver()) yield 'idle'
  }
}

async function readOn(
  { log, ends, topic }: TailOptions,
  partition: number,
  from: number,
): Promise<RecordBatch | undefined> {
  if (from >= (ends.ends[partition] ?? 0)) return undefined
  const at = { topic, partition }
  const { start } = await log.offsets(at)
  return log.read(at, Math.max(from, start), { maxRecords: MAX_RECORDS, maxBytes: MAX_BYTES })
}
