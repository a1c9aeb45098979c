import { cut } from '../../common/errors.js'
import type { CloudEvent, EventRecord } from '../cloudevents/cloud-event.js'
import { avroDataOf, decodeEventWithData } from '../cloudevents/event-data.js'
import { eventTimeOf } from '../cloudevents/event-time.js'
import { rejected } from '../input-errors.js'
import type { InputErrorCode, InputResult } from '../input-errors.js'
import { memberText } from '../json-text.js'
import { isJsonObject, parseJson } from '../json.js'
import type { SchemaRegistry } from '../registry/schema-registry.js'
import { callOutcomeAvro } from './call-outcome-schema.js'
import type { CallOutcomeErrorCode } from './errors.js'
import { CALL_RESULTS } from './journal-events.js'
import type { CallOutcomeReported } from './journal-events.js'
import { nameFault } from './names.js'

interface OutcomeFault {
  readonly code: InputErrorCode | CallOutcomeErrorCode
  readonly message: string
  readonly field?: string
}

/** What a record on the outcome topic is: an outcome at the platform `key`, or refused. */
export type CallOutcomeDecoded =
  | {
      readonly kind: 'event'
      readonly key: string
      readonly event: { readonly type: 'CallOutcomeReported'; readonly data: CallOutcomeReported }
    }
  | ({ readonly kind: 'rejected'; readonly more?: readonly OutcomeFault[] } & OutcomeFault)

/**
 * A call outcome, from the topic or over HTTP: platform and address stand in the data, the record key counts for nothing.
 * `callId` is a text, or a whole number whose digits are all kept. A `cause` that is too long is cut. Without a registry Avro is
 * refused with NO_SCHEMA_REGISTRY; with one the result may be a promise, which rejects only with REGISTRY_UNAVAILABLE.
 * (address health, section 5)
 */
export function decodeCallOutcome(
  record: EventRecord,
  registry?: SchemaRegistry,
): CallOutcomeDecoded | Promise<CallOutcomeDecoded> {
  const decoded = decodeEventWithData(record)
  if (!decoded.ok) return rejected(decoded.faults)
  const event = decoded.value
  const avro = avroDataOf(event, registry, callOutcomeAvro)
  if (avro === undefined) return outcome(event, record, parseJson(event.data), event.data)
  return avro instanceof Promise
    ? avro.then((later) => outcome(event, record, later, null))
    : outcome(event, record, avro, null)
}

/** `json`: the data's text, where it is JSON. */
function outcome(
  event: CloudEvent,
  record: EventRecord,
  body: InputResult<unknown>,
  json: Buffer | null,
): CallOutcomeDecoded {
  if (!body.ok) return rejected(body.faults)
  const data = body.value
  if (!isJsonObject(data)) {
    return { kind: 'rejected', code: 'NOT_AN_OBJECT', message: 'the data is not a JSON object', field: 'data' }
  }
  const { platform, address, result, cause = null, attemptId = null } = data
  const callId = callIdText(data['callId'], json)
  const known = CALL_RESULTS.find((word) => word === result)
  if (
    !isName(platform) ||
    !isName(address) ||
    !isName(callId) ||
    known === undefined ||
    !(attemptId === null || isName(attemptId)) ||
    !(cause === null || typeof cause === 'string')
  ) {
    return rejected(faultsOf({ platform, address, result, callId, attemptId, cause }))
  }
  const { eventTime, eventTimeSource } = eventTimeOf(event.time, record.timestamp)
  return {
    kind: 'event',
    key: platform,
    event: {
      type: 'CallOutcomeReported',
      data: {
        platform,
        address,
        result: known,
        cause: cause === null ? '' : cause.slice(0, CAUSE_LIMIT),
        callId,
        attemptId: attemptId ?? '',
        eventTime,
        eventTimeSource,
        producer: event.source,
        eventId: event.id,
      },
    },
  }
}

const CAUSE_LIMIT = 255

const WHOLE_NUMBER = /^-?\d+$/

/** The call id as text; a number is read again from the JSON, where it has all its digits. Anything else as it is. */
function callIdText(callId: unknown, json: Buffer | null): unknown {
  if (typeof callId === 'bigint') return callId.toString()
  if (typeof callId !== 'number' || json === null) return callId
  const text = memberText(json, ['callId'])?.toString('latin1') ?? ''
  return WHOLE_NUMBER.test(text) ? text : callId
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && nameFault(value) === null
}

/** What is wrong with members of which at least one is: those missing, then those that are something else. */
function faultsOf(members: Readonly<Record<string, unknown>>): [OutcomeFault, ...OutcomeFault[]] {
  const missing: OutcomeFault[] = []
  const invalid: OutcomeFault[] = []
  for (const [name, value] of Object.entries(members)) {
    if (value === null || value === undefined) {
      if (name === 'attemptId' || name === 'cause') continue
      missing.push({ code: 'MISSING_OUTCOME_MEMBER', message: `the data has no ${name}`, field: name })
    } else {
      const wrong = wrongOf(name, value)
      if (wrong !== null) invalid.push({ code: 'INVALID_OUTCOME_MEMBER', message: `${name} ${wrong}`, field: name })
    }
  }
  return [...missing, ...invalid] as [OutcomeFault, ...OutcomeFault[]]
}

function wrongOf(name: string, value: unknown): string | null {
  if (name === 'result') {
    if (CALL_RESULTS.some((word) => word === value)) return null
    return `is ${cut(value)}, not exactly one of ${CALL_RESULTS.join(', ')}`
  }
  if (typeof value !== 'string') return `is ${cut(value)}, not a text${name === 'callId' ? ' or a whole number' : ''}`
  return name === 'cause' ? null : nameFault(value)
}
