import { isUtf8 } from 'node:buffer'
import { refuse } from '../input-errors.js'
import type { InputErrorCode, InputFault, InputResult } from '../input-errors.js'
import { elementTexts } from '../json-text.js'
import { mediaType } from './cloud-event.js'
import type { CloudEvent, EventRecord } from './cloud-event.js'
import { decodeRecord } from './record.js'

/** Events in one request. (trust levels, section 10) */
export const MAX_BATCH_EVENTS = 60_000

/** An HTTP request that brings CloudEvents: Node's raw headers (name, value, name, …) and the body as received. */
export interface EventRequest {
  readonly rawHeaders: readonly string[]
  readonly body: Buffer | null
}

/** A fault of one event of a request; index 0 where there is but one, or where it is the whole body's. */
export interface EventFault extends InputFault {
  readonly index: number
}

/**
 * The events of a request as records, as they would stand on a topic (HTTP protocol binding, 1.0.2): binary mode by `ce-`
 * headers, a structured event by application/cloudevents+json, a batch by application/cloudevents-batch+json, each element's
 * bytes kept as sent. The records are not decoded yet: see `decodeRecords`. Refused here: what concerns the request as a whole.
 */
export function recordsOf(request: EventRequest): InputResult<readonly EventRecord[]> {
  const headers = pairs(request.rawHeaders)
  const contentTypes = headers.filter(([name]) => name === 'content-type')
  const contentType = mediaType(contentTypes[0]?.[1] ?? '')
  if (contentType === 'application/cloudevents-batch+json') return recordsOfBatch(request.body)
  if (contentType.startsWith('application/cloudevents')) {
    return { ok: true, value: [{ value: request.body, headers: headerBytes(contentTypes), timestamp: null }] }
  }
  const attributes: (readonly [string, Buffer])[] = headerBytes(contentTypes)
  for (const [name, value] of headers) {
    if (!name.startsWith('ce-')) continue
    const bytes = attributeBytes(value)
    if (bytes === undefined) {
      return refuse('MALFORMED_TEXT', `header ${name} is not percent-encoded UTF-8`, name.slice('ce-'.length))
    }
    attributes.push([`ce_${name.slice('ce-'.length)}`, bytes])
  }
  return { ok: true, value: [{ value: request.body, headers: attributes, timestamp: null }] }
}

/** Decodes records, of which the first has the index `from`, and tells every fault of each. A long batch is best done in portions. */
export function decodeRecords(
  records: readonly EventRecord[],
  from = 0,
): { readonly events: readonly CloudEvent[]; readonly faults: readonly EventFault[] } {
  const events: CloudEvent[] = []
  const faults: EventFault[] = []
  for (const [i, record] of records.entries()) {
    const decoded = decodeRecord(record)
    if (decoded.ok) events.push(decoded.value)
    else for (const fault of decoded.faults) faults.push({ index: from + i, ...fault })
  }
  return { events, faults }
}

const batchFaults: Readonly<Record<'NOT_AN_ARRAY' | 'MALFORMED' | 'TOO_MANY', readonly [InputErrorCode, string]>> = {
  NOT_AN_ARRAY: ['NOT_AN_ARRAY', 'a batch is a JSON array of events'],
  MALFORMED: ['MALFORMED_JSON', 'the array of the batch is not closed, or something follows it'],
  TOO_MANY: ['TOO_MANY_EVENTS', `the batch has more than ${MAX_BATCH_EVENTS} events`],
}

function recordsOfBatch(body: Buffer | null): InputResult<readonly EventRecord[]> {
  const elements = elementTexts(body ?? Buffer.alloc(0), MAX_BATCH_EVENTS)
  if (typeof elements === 'string') return refuse(...batchFaults[elements])
  const headers = headerBytes([['content-type', 'application/cloudevents+json']])
  return { ok: true, value: elements.map((value) => ({ value, headers, timestamp: null })) }
}

function pairs(rawHeaders: readonly string[]): (readonly [name: string, value: string])[] {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), rawHeaders[i + 1] ?? ''] as const] : []))
}

function headerBytes(headers: readonly (readonly [string, string])[]): (readonly [string, Buffer])[] {
  return headers.map(([name, value]) => [name, Buffer.from(value, 'latin1')] as const)
}

/**
 * A header's value as the attribute's UTF-8: unquoted where it is in double quotes, then percent-decoded once. Node gives
 * bytes as latin1. undefined: not UTF-8, or a percent sign without two hex digits.
 */
function attributeBytes(value: string): Buffer | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1]
  const text = quoted === undefined ? value : quoted.replace(/\\(.)/g, '$1')
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return undefined
  const decoded = text.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  const bytes = Buffer.from(decoded, 'latin1')
  return isUtf8(bytes) ? bytes : undefined
}
