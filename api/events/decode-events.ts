import { setImmediate } from 'node:timers/promises'
import { cut } from '../../common/errors.js'
import { decodeRecords } from '../../schemas/cloudevents/http.js'
import type { EventRecord } from '../../schemas/cloudevents/cloud-event.js'
import type { IngestEvent } from '../../topology/streams.js'
import type { Fault } from '../errors.js'
import type { EventRoute, EventRouter } from './route.js'

export interface DecodedEvent {
  readonly domain: string
  readonly event: IngestEvent
}

export interface DecodedEvents {
  readonly events: readonly DecodedEvent[]
  /** All that is wrong, by index of the event; with one, no event may be taken. */
  readonly faults: readonly Fault[]
}

/** Events decoded between two turns of the event loop. */
const PORTION = 500

/** Decodes records as their domains do on Kafka. */
export async function decodeEvents(
  records: readonly EventRecord[],
  router: EventRouter | EventRoute,
): Promise<DecodedEvents> {
  const events: DecodedEvent[] = []
  const faults: Fault[] = []
  for (const [index, record] of records.entries()) {
    if (index % PORTION === PORTION - 1) await setImmediate()
    const route = typeof router === 'function' ? routeOfRecord(record, index, router, faults) : router
    if (route === undefined) continue
    const original = { key: null, value: record.value, headers: record.headers }
    const decoded = await route.input.decode({ ...original, timestamp: record.timestamp })
    switch (decoded.kind) {
      case 'event':
        events.push({ domain: route.domain, event: { key: decoded.key, event: decoded.event, original } })
        break
      case 'skipped':
        faults.push({ index, code: 'EVENT_SKIPPED', field: '', message: `not for this topic: ${decoded.reason}` })
        break
      case 'rejected': {
        for (const { code, field = '', message } of [decoded, ...(decoded.more ?? [])]) {
          faults.push({ index, code, field, message })
        }
      }
    }
  }
  return { events, faults }
}

function routeOfRecord(
  record: EventRecord,
  index: number,
  router: EventRouter,
  faults: Fault[],
): EventRoute | undefined {
  const decoded = decodeRecords([record], index)
  for (const { code, field = '', message } of decoded.faults) faults.push({ index, code, field, message })
  const [event] = decoded.events
  if (event === undefined) return undefined
  const route = router(event.type)
  if (route === undefined) {
    const message = `type ${cut(event.type)} is not known; ?topic= names an input topic`
    faults.push({ index, code: 'UNKNOWN_EVENT_TYPE', field: 'type', message })
  }
  return route
}
