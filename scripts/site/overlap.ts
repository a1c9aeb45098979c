import type { Overlap } from '../../api/site/site-control.js'
import type { Clock } from '../../common/clock.js'
import type { SiteRecord, SwitchReport } from '../../processors/site/index.js'
import { blockCodec } from '../../topology/journal/block-codec.js'
import { readableRecords } from '../../topology/journal/readable-records.js'
import { names } from '../../topology/names.js'
import type { DigestsOptions } from './digests.js'

/**
 * From when on the other site was active as well, as a site learns that has worked until now; undefined: it was not. It has
 * taken over from this one as from a dead one, or has not heard of it in the middle of a switch: else this one would have stopped
 * in SWITCH.
 */
export function overlapBegan({ phase, oldAlive, since, switchedAt, report }: SiteRecord): number | undefined {
  if (!oldAlive) return switchedAt
  if (phase === 'CATCHUP') return since
  if (phase !== 'STEADY' || report === '') return undefined
  return switchedAt + (JSON.parse(report) as SwitchReport).untilTrafficMs
}

/**
 * The time in which both sites were active, as the one that gave way knows it: from when the other took over until now, and
 * the events that its own journals got meanwhile. They come back with the next switch to it. (two sites, decision 14)
 */
export async function overlapSince(
  from: number,
  { clock, log, applicationId, partitions, processors }: DigestsOptions & { readonly clock: Clock },
): Promise<Overlap> {
  let events = 0
  for (const { name, events: schemas } of processors) {
    const codec = blockCodec(schemas)
    for (let partition = 0; partition < partitions; partition++) {
      const place = { topic: names.journal(applicationId, name), partition }
      const { end } = await log.offsets(place)
      for (let offset = await log.offsetForTime(place, from); offset < end;) {
        const { records, next } = await log.read(place, offset)
        for (const { entries } of readableRecords(codec.decode, place, records, () => undefined)) {
          events += entries.filter(({ kind }) => kind === 'event').length
        }
        offset = next
      }
    }
  }
  return { from, to: clock.now(), events }
}
