import { textOf } from '../json.js'
import type { InputFault } from '../input-errors.js'

/** Header name and value pairs of a record, in the order sent: a name may repeat, and may be `__proto__`. */
export type RecordHeaders = readonly (readonly [name: string, value: Buffer])[]

/** A record that carries a CloudEvent, in binary or structured mode. `timestamp`: ms since 1970; null: it has none. */
export interface EventRecord {
  readonly value: Buffer | null
  readonly headers: RecordHeaders
  readonly timestamp: number | null
}

/** A CloudEvent (specification 1.0), its attributes checked. */
export interface CloudEvent {
  readonly id: string
  readonly source: string
  readonly type: string
  /** As sent, not checked; null: absent. */
  readonly time: string | null
  /** Media type of the data in lower case, without parameters; null: absent. */
  readonly dataContentType: string | null
  /** The data's bytes; of a structured event in JSON the member's text as sent. null: none. */
  readonly data: Buffer | null
  /** All other attributes as binary-mode headers (`ce_subject`, `ce_mtype`, …), not checked. */
  readonly extensions: RecordHeaders
}

/** Mandatory attributes with their longest length in characters. (trust levels, section 10) */
const limits = { id: 255, source: 2048, type: 255 } as const

export type CoreAttribute = 'id' | 'source' | 'type' | 'specversion'

/** The value of an optional or extension attribute; undefined: absent, or not valid UTF-8. The last of several counts. */
export function extensionOf(event: CloudEvent, name: string): string | undefined {
  const header = event.extensions.findLast(([headerName]) => headerName.toLowerCase() === `ce_${name}`)
  return header === undefined ? undefined : textOf(header[1])
}

/** The fault of a mandatory attribute, if it has one. `undefined`: absent; `null`: not a text. `label` is for the message. */
export function attributeFault(
  name: CoreAttribute,
  value: string | null | undefined,
  label: string,
): InputFault | undefined {
  if (value === undefined) return { code: 'MISSING_ATTRIBUTE', field: name, message: `${label} is missing` }
  if (value === null) return { code: 'INVALID_ATTRIBUTE', field: name, message: `${label} is not valid text` }
  if (name === 'specversion') {
    if (value === '1.0') return undefined
    if (value.trim() !== '') {
      return { code: 'UNSUPPORTED_SPECVERSION', field: name, message: `${label} is not 1.0` }
    }
  } else {
    if (value.length > limits[name]) {
      const code = name === 'id' ? 'ID_TOO_LONG' : 'ATTRIBUTE_TOO_LONG'
      return {
        code,
        field: name,
        message: `${label} has ${value.length} characters, at most ${limits[name]} are taken`,
      }
    }
    if (!isPlainText(value)) {
      return { code: 'INVALID_ATTRIBUTE', field: name, message: `${label} has a control character or a line break` }
    }
    if (value.trim() !== '') return undefined
  }
  return { code: 'BLANK_ATTRIBUTE', field: name, message: `${label} is blank` }
}

/** No control characters (CloudEvents' String type), no line separators, no half of a surrogate pair. */
export function isPlainText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code === 0x2028 || code === 0x2029) return false
    if (code >= 0xd800 && code < 0xe000) return !/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(text)
  }
  return true
}

/** The media type without parameters, in lower case. */
export function mediaType(contentType: string): string {
  const semicolon = contentType.indexOf(';')
  return (semicolon === -1 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase()
}
