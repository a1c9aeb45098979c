import type { ErrorTable } from '../common/errors.js'

/** Why an input is refused: codes of dead letters on topics, and of faults in answers to `POST /events`. */
export const inputErrors = {
  NULL_VALUE: { action: 'Send a body: a delete marker means nothing on an input topic.' },
  EMPTY_VALUE: { action: 'Send a body: the value has no bytes.' },
  MISSING_DATA: { action: 'Give the envelope a member `data` or `data_base64`.' },
  INPUT_TOO_LARGE: { action: 'Send at most 1 MiB an event.' },
  TOO_MANY_EVENTS: { action: 'Send at most 60,000 events in a batch.' },
  MALFORMED_TEXT: { action: 'Send text in UTF-8.' },
  MALFORMED_JSON: { action: 'Send valid JSON (RFC 8259).' },
  NOT_AN_OBJECT: { action: 'Send a JSON object here.' },
  NOT_AN_ARRAY: { action: 'Send a batch as a JSON array of events.' },
  NESTED_TOO_DEEPLY: { action: 'Nest objects and arrays at most 64 deep.' },
  FORBIDDEN_MEMBER: { action: 'Leave out members named `__proto__`, and `prototype` inside `constructor`.' },
  MISSING_ATTRIBUTE: { action: 'Set the CloudEvents attribute named; the record key does not stand for it.' },
  BLANK_ATTRIBUTE: { action: 'Give the CloudEvents attribute named a value.' },
  REPEATED_ATTRIBUTE: { action: 'Send the attribute once: it came several times with different values.' },
  INVALID_ATTRIBUTE: { action: 'Send the attribute as well-formed text without control characters or line breaks.' },
  ATTRIBUTE_TOO_LONG: { action: 'Shorten the attribute: type at most 255 characters, source at most 2,048.' },
  ID_TOO_LONG: { action: 'Use ids of at most 255 characters.' },
  UNSUPPORTED_SPECVERSION: { action: 'Send CloudEvents of specversion 1.0.' },
  UNSUPPORTED_EVENT_FORMAT: { action: 'Send envelopes in JSON: application/cloudevents+json; batches over HTTP only.' },
  CONFLICTING_DATA: { action: 'Give the envelope either `data` or `data_base64`.' },
  INVALID_BINARY_DATA: { action: 'Send `data_base64` as a text in base64 (RFC 4648).' },
  MISSING_TRUST_LEVEL: { action: 'Send {"data":{"trustLevel":"NONE"}} or "COMPLETE".' },
  INVALID_TRUST_LEVEL: { action: 'Use exactly NONE or COMPLETE.' },
  CONFLICTING_TRUST_LEVELS: { action: 'Send one level: several members carry different ones.' },
  NO_SCHEMA_REGISTRY: { action: 'Send JSON, or set `schemaRegistryUrl` so that Avro can be read.' },
  NOT_SCHEMA_FRAMED: {
    action: "Send Avro in the registry's wire format: byte 0, 4-byte schema id, body; else say JSON.",
  },
  UNKNOWN_SCHEMA_ID: { action: 'Register the schema, then send again; the id is asked for again after 10 s.' },
  UNSUPPORTED_SCHEMA: {
    action: 'Register an Avro schema: the id names one of another kind, or one that is not valid.',
  },
  INCOMPATIBLE_SCHEMA: { action: "Write with a schema that this event's schema can read." },
  AVRO_MALFORMED: { action: 'Write the body with the schema whose id it carries.' },
} as const satisfies ErrorTable

export type InputErrorCode = keyof typeof inputErrors

/** What is wrong with an input. `field` is the attribute, or the path of the member inside the JSON. */
export interface InputFault {
  readonly code: InputErrorCode
  readonly message: string
  readonly field?: string
}

/** A value, or every fault that was found (at least one). */
export type InputResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly [InputFault, ...InputFault[]] }

/** What a decoder says of a record with these faults: the first, and the others for callers over HTTP. */
export function rejected<Fault extends object>([first, ...more]: readonly [Fault, ...Fault[]]): {
  readonly kind: 'rejected'
  readonly more?: readonly Fault[]
} & Fault {
  return { kind: 'rejected', ...first, ...(more.length > 0 && { more }) }
}

/** A result with one fault. */
export function refuse(code: InputErrorCode, message: string, field?: string): InputResult<never> {
  return { ok: false, faults: [field === undefined ? { code, message } : { code, message, field }] }
}
