import { avroRowCodec } from '../../schemas/avro.js'
import type { FoldContext, QueryReader, Table } from '../../topology/processor.js'
import { of, record } from './events.js'
import type { ConsumingBegun, InstanceReported } from './events.js'
import type { SiteRecord } from './site-record.js'

/** An instance of this site that consumes, or is not well. */
export interface SiteInstance {
  /** Where the others reach it. */
  readonly instance: string
  /** Its tasks run, or may run for all that is known. */
  readonly consumes: boolean
  /** What its components say is wrong; empty: nothing. */
  readonly troubles: string
}

export const instances: Table<SiteInstance> = {
  name: 'instances',
  codec: avroRowCodec<SiteInstance>(
    record('SiteInstance', [...of('string', 'instance'), ...of('boolean', 'consumes'), ...of('string', 'troubles')]),
  ),
  resident: true,
}

export function instancesOf(reader: QueryReader): readonly SiteInstance[] {
  return [...reader.resident(instances)].map(([, row]) => row)
}

/**
 * Notes that an instance consumes, before it does: so a site that is fenced knows for whom to wait. One that acts by another
 * record than the register's is refused. True: it may begin.
 */
export function beginConsuming(
  { instance, epoch, step }: ConsumingBegun['data'],
  now: SiteRecord,
  context: FoldContext,
): boolean {
  if (epoch !== now.epoch || step !== now.step) return false
  const { troubles } = context.get(instances, instance) ?? { troubles: '' }
  context.put(instances, instance, { instance, consumes: true, troubles })
  return true
}

/** What an instance says of itself may end that it consumes, and begins it never. */
export function noteInstance({ instance, consumes, troubles }: InstanceReported['data'], context: FoldContext): void {
  const isConsuming = consumes && context.get(instances, instance)?.consumes === true
  if (isConsuming || troubles !== '') context.put(instances, instance, { instance, consumes: isConsuming, troubles })
  else context.delete(instances, instance)
}
