import type { TaskDigest } from '../../api/site/site-control.js'
import type { Log, LogRecord, TopicPartition } from '../../topology/log/log.js'
import { names } from '../../topology/names.js'
import type { Processor } from '../../topology/processor.js'
import { parseSeal } from '../../topology/task/seal.js'

export interface DigestsOptions {
  readonly log: Log
  readonly applicationId: string
  readonly partitions: number
  readonly processors: readonly Processor[]
}

/** The newest state that each task of this site has sealed; of a task that has sealed none nothing. */
export async function newestDigests(options: DigestsOptions): Promise<readonly TaskDigest[]> {
  const { log, applicationId, partitions, processors } = options
  const digests: TaskDigest[] = []
  for (const { name: domain, store } of processors) {
    for (let partition = 0; partition < partitions; partition++) {
      const place = { topic: names.digests(applicationId, store), partition }
      const record = await lastRecord(log, place)
      const seal = record === undefined ? undefined : parseSeal(record)
      if (seal !== undefined) digests.push({ domain, partition, offset: seal.offset, digest: seal.withoutPositions })
    }
  }
  return digests
}

/** What stands at the end may be no record: the mark of a transaction, or what compaction has left empty. */
async function lastRecord(log: Log, place: TopicPartition): Promise<LogRecord | undefined> {
  const { start, end } = await log.offsets(place)
  for (let back = 1; end - back / 2 > start; back *= 2) {
    let last: LogRecord | undefined
    for (let offset = Math.max(start, end - back); offset < end;) {
      const { records, next } = await log.read(place, offset)
      last = records.at(-1) ?? last
      offset = next
    }
    if (last !== undefined) return last
  }
  return undefined
}
