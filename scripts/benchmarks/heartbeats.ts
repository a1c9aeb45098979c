import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import type { Headers, NewRecord } from '../../topology/log/log.js'
import { partitionOf } from '../../topology/partitioner.js'

export const HEARTBEAT_TOPIC = 'dmi-device-heartbeat'
export const PARTITIONS = 12

export interface Heartbeat {
  readonly cmHandle: string
  readonly trustLevel: TrustLevel
}

const text = (value: string): Buffer => Buffer.from(value)
const VALUES: Readonly<Record<TrustLevel, Buffer>> = {
  NONE: text('{"data":{"trustLevel":"NONE"}}'),
  COMPLETE: text('{"data":{"trustLevel":"COMPLETE"}}'),
}
const COMMON: Headers = [
  ['ce_specversion', text('1.0')],
  ['ce_source', text('bench')],
  ['ce_type', text('org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel')],
  ['content-type', text('application/json')],
]

/** A heartbeat as a DMI plugin sends it over Kafka: binary CloudEvent, keyed by the handle. */
export function heartbeatRecord({ cmHandle, trustLevel }: Heartbeat, timeMs: number): NewRecord {
  const id = text(cmHandle)
  const headers: Headers = [...COMMON, ['ce_id', id], ['ce_time', text(new Date(timeMs).toISOString())]]
  return { key: id, value: VALUES[trustLevel], headers }
}

/** Heartbeats as records by partition, in order. */
export function byPartition(heartbeats: readonly Heartbeat[], timeMs: number): readonly NewRecord[][] {
  const records = Array.from({ length: PARTITIONS }, (): NewRecord[] => [])
  for (const heartbeat of heartbeats) {
    records[partitionOf(heartbeat.cmHandle, PARTITIONS)]?.push(heartbeatRecord(heartbeat, timeMs))
  }
  return records
}

/** One heartbeat of each device; every second one says `changed`. */
export function halfChanged(
  ids: readonly string[],
  changed: TrustLevel,
  unchanged: TrustLevel = 'COMPLETE',
): readonly Heartbeat[] {
  return ids.map((cmHandle, at) => ({ cmHandle, trustLevel: at % 2 === 0 ? changed : unchanged }))
}
