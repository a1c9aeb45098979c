import type { TaskDigest } from '../../api/site/site-control.js'
import type { Log } from '../../topology/log/log.js'
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
      const { start, end } = await log.offsets(place)
      if (end === start) continue
      const record = (await log.read(place, end - 1, { maxRecords: 1 })).records.at(-1)
      const seal = record === undefined ? undefined : parseSeal(record)
      if (seal !== undefined) digests.push({ domain, partition, offset: seal.offset, digest: seal.withoutPositions })
    }
  }
  return digests
}
