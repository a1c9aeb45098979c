import { cut } from '../../common/errors.js'
import type { CloudEvent, EventRecord } from '../cloudevents/cloud-event.js'
import { avroDataOf, decodeEventWithData } from '../cloudevents/event-data.js'
import type { EventWithData } from '../cloudevents/event-data.js'
import { eventTimeOf } from '../cloudevents/event-time.js'
import { refuse, rejected } from '../input-errors.js'
import type { InputFault, InputResult } from '../input-errors.js'
import { isJsonObject, parseJson } from '../json.js'
import type { SchemaRegistry } from '../registry/schema-registry.js'
import { deviceTrustLevelAvro } from './heartbeat-schema.js'
import { TRUST_LEVELS } from './journal-events.js'
import type { HeartbeatReported, TrustLevel } from './journal-events.js'

/** What a record on the heartbeat topic is: a report on the handle `key`, or refused. */
export type HeartbeatDecoded =
  | {
      readonly kind: 'event'
      readonly key: string
      readonly event: { readonly type: 'HeartbeatReported'; readonly data: HeartbeatReported }
    }
  | ({ readonly kind: 'rejected'; readonly more?: readonly InputFault[] } & InputFault)

/**
 * A heartbeat, from the topic or over HTTP: the event id is the cm handle id, the data carries the level, the record key
 * counts for nothing. Ids are not held against the characters that registration refuses, but control characters, line
 * breaks and broken surrogates are refused: such an id can never be registered. Every event type is taken, and
 * counted by the fold. Without a registry Avro is refused with NO_SCHEMA_REGISTRY; with one the result may be a promise,
 * which rejects only with REGISTRY_UNAVAILABLE. (trust levels, sections 0 and 3)
 */
export function decodeHeartbeat(
  record: EventRecord,
  registry?: SchemaRegistry,
): HeartbeatDecoded | Promise<HeartbeatDecoded> {
  const decoded = decodeEventWithData(record)
  if (!decoded.ok) return rejected(decoded.faults)
  const event = decoded.value
  const level = levelOf(event, registry)
  if (level instanceof Promise) return level.then((later) => heartbeat(event, record, later))
  return heartbeat(event, record, level)
}

function heartbeat(event: CloudEvent, record: EventRecord, level: InputResult<TrustLevel>): HeartbeatDecoded {
  if (!level.ok) return rejected(level.faults)
  const { eventTime, eventTimeSource } = eventTimeOf(event.time, record.timestamp)
  return {
    kind: 'event',
    key: event.id,
    event: {
      type: 'HeartbeatReported',
      data: {
        cmHandle: event.id,
        trustLevel: level.value,
        eventTime,
        eventTimeSource,
        producer: event.source,
        eventType: event.type,
      },
    },
  }
}

function levelOf(
  event: EventWithData,
  registry: SchemaRegistry | undefined,
): InputResult<TrustLevel> | Promise<InputResult<TrustLevel>> {
  const avro = avroDataOf(event, registry, deviceTrustLevelAvro)
  if (avro === undefined) return usualLevel(event.data) ?? levelInResult(parseJson(event.data))
  return avro instanceof Promise ? avro.then(levelInResult) : levelInResult(avro)
}

/** The bodies nearly all plugins send, told by their bytes: a fifth of the cost of parsing them. */
const usualBodies = TRUST_LEVELS.flatMap((level) =>
  [{ data: { trustLevel: level } }, { trustLevel: level }, { trustlevel: level }].map((body) => ({
    bytes: Buffer.from(JSON.stringify(body)),
    level: { ok: true, value: level } as const satisfies InputResult<TrustLevel>,
  })),
)

function usualLevel(data: Buffer): InputResult<TrustLevel> | undefined {
  for (const { bytes, level } of usualBodies) if (bytes.length === data.length && bytes.equals(data)) return level
  return undefined
}

function levelInResult(body: InputResult<unknown>): InputResult<TrustLevel> {
  return body.ok ? levelIn(body.value) : body
}

/** The level in either wrapping and spelling; all that are there must agree. Other members are ignored. */
function levelIn(body: unknown): InputResult<TrustLevel> {
  if (!isJsonObject(body)) return refuse('NOT_AN_OBJECT', 'the data is not a JSON object', 'data')
  let found: unknown
  let field: string | undefined
  for (const [prefix, wrapping] of [
    ['data.', body['data']],
    ['', body],
  ] as const) {
    if (!isJsonObject(wrapping)) continue
    for (const name of ['trustLevel', 'trustlevel']) {
      const value = wrapping[name]
      if (value === undefined) continue
      if (field !== undefined && value !== found) {
        const both = `${field} ${cut(found)} and ${prefix}${name} ${cut(value)}`
        return refuse('CONFLICTING_TRUST_LEVELS', `different trust levels: ${both}`, field)
      }
      found = value
      field = prefix + name
    }
  }
  if (field === undefined) return refuse('MISSING_TRUST_LEVEL', 'the data carries no trust level', 'data.trustLevel')
  const level = TRUST_LEVELS.find((word) => word === found)
  if (level === undefined) {
    return refuse('INVALID_TRUST_LEVEL', `${field} is ${cut(found)}, not exactly ${TRUST_LEVELS.join(' or ')}`, field)
  }
  return { ok: true, value: level }
}
