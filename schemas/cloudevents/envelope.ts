import { isJsonObject, parseJson } from '../json.js'
import { memberText } from '../json-text.js'
import { refuse } from '../input-errors.js'
import type { InputFault, InputResult } from '../input-errors.js'
import { attributeFault, mediaType } from './cloud-event.js'
import type { CloudEvent, CoreAttribute } from './cloud-event.js'

const known = new Set(['id', 'source', 'type', 'specversion', 'time', 'datacontenttype', 'data', 'data_base64'])

/**
 * A CloudEvent in structured mode (JSON event format, 1.0.2). The data stays the bytes that were sent, so that numbers keep
 * their digits; a member that is null is absent. A time that is not a text is kept as its JSON, and is malformed later.
 */
export function decodeEnvelope(json: Buffer | null): InputResult<CloudEvent> {
  if (json === null) return refuse('NULL_VALUE', 'value is null: a structured event is an envelope')
  if (json.length === 0) return refuse('EMPTY_VALUE', 'value is empty: a structured event is an envelope')
  const parsed = parseJson(json)
  if (!parsed.ok) return parsed
  const envelope = parsed.value
  if (!isJsonObject(envelope)) return refuse('NOT_AN_OBJECT', 'a structured event is a JSON object')

  const faults: InputFault[] = []
  const core = (name: CoreAttribute): string => {
    const value = envelope[name] ?? undefined
    const text = typeof value === 'string' || value === undefined ? value : null
    const fault = attributeFault(name, text, `attribute ${name}`)
    if (fault !== undefined) faults.push(fault)
    return text ?? ''
  }
  const event = { id: core('id'), source: core('source'), type: core('type'), specversion: core('specversion') }
  const data = dataOf(envelope, json)
  if (!data.ok) faults.push(...data.faults)
  const [first, ...others] = faults
  if (first !== undefined || !data.ok) return { ok: false, faults: [first as InputFault, ...others] }

  const { time, datacontenttype } = envelope
  return {
    ok: true,
    value: {
      id: event.id,
      source: event.source,
      type: event.type,
      time: time === undefined || time === null ? null : typeof time === 'string' ? time : JSON.stringify(time),
      dataContentType: typeof datacontenttype === 'string' ? mediaType(datacontenttype) : null,
      data: data.value,
      extensions: Object.entries(envelope).flatMap(([name, value]) =>
        known.has(name) || !isScalar(value) ? [] : [[`ce_${name}`, Buffer.from(String(value))] as const],
      ),
    },
  }
}

function dataOf(envelope: Readonly<Record<string, unknown>>, json: Buffer): InputResult<Buffer | null> {
  const base64 = envelope['data_base64'] ?? null
  if (base64 === null) return { ok: true, value: memberText(json, ['data']) ?? null }
  if ((envelope['data'] ?? null) !== null) {
    return refuse('CONFLICTING_DATA', 'the envelope has both data and data_base64', 'data_base64')
  }
  if (typeof base64 !== 'string' || !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)) {
    return refuse('INVALID_BINARY_DATA', 'data_base64 is not a text in base64', 'data_base64')
  }
  return { ok: true, value: Buffer.from(base64, 'base64') }
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
