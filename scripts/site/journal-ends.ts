import type { SiteView } from '../../api/site/site-control.js'
import { names } from '../../topology/names.js'
import type { DigestsOptions } from './digests.js'

/** Where each journal of this site ends. */
export async function journalEnds(options: DigestsOptions): Promise<SiteView['ends']> {
  const { log, applicationId, partitions, processors } = options
  const ends: { topic: string; partition: number; end: number }[] = []
  for (const { name } of processors) {
    const topic = names.journal(applicationId, name)
    for (let partition = 0; partition < partitions; partition++) {
      ends.push({ topic, partition, end: (await log.offsets({ topic, partition })).end })
    }
  }
  return ends
}
