import { textOf } from '../json.js'
import { refuse } from '../input-errors.js'
import type { InputFault, InputResult } from '../input-errors.js'
import { attributeFault, mediaType } from './cloud-event.js'
import type { CloudEvent, CoreAttribute, EventRecord } from './cloud-event.js'
import { decodeEnvelope } from './envelope.js'

/** Bytes of one record's value. (trust levels, section 10) */
export const MAX_EVENT_BYTES = 1024 * 1024

const CORE = ['id', 'source', 'type', 'specversion'] as const satisfies readonly CoreAttribute[]
const labels = CORE.map((name) => `attribute ${name} (ce_${name}; ce-${name} over HTTP)`)
const TIME = CORE.length
const CONTENT_TYPE = TIME + 1
const SLOTS = CONTENT_TYPE + 1

const slotOfHeader: ReadonlyMap<string, number> = new Map<string, number>([
  ...CORE.map((name, slot) => [`ce_${name}`, slot] as const),
  ['ce_time', TIME],
  ['content-type', CONTENT_TYPE],
  ['content_type', CONTENT_TYPE],
])

/**
 * The CloudEvent that a record carries (Kafka protocol binding, 1.0.2): binary mode by `ce_` headers, structured mode by a
 * content type of application/cloudevents+json. Header names may be in any case; a header sent again with the same value
 * counts once. The npm package `cloudevents` was not taken: headers in a plain object, every fault an exception, data through JSON.parse.
 */
export function decodeRecord(record: EventRecord): InputResult<CloudEvent> {
  if (record.value !== null && record.value.length > MAX_EVENT_BYTES) {
    return refuse('INPUT_TOO_LARGE', `value has ${record.value.length} bytes, at most ${MAX_EVENT_BYTES} are taken`)
  }
  const values = new Array<Buffer | undefined>(SLOTS).fill(undefined)
  const extensions: (readonly [string, Buffer])[] = []
  let repeated: string | undefined
  for (const header of record.headers) {
    const slot = slotOf(header[0])
    if (slot === undefined) {
      if (isExtension(header[0])) extensions.push(header)
    } else if (values[slot] === undefined) values[slot] = header[1]
    else if (!values[slot].equals(header[1])) repeated = header[0]
  }
  if (repeated !== undefined) {
    const name = repeated.toLowerCase()
    return refuse('REPEATED_ATTRIBUTE', `header ${name} came several times with different values`, attributeOf(name))
  }
  const contentType = values[CONTENT_TYPE]
  const dataContentType = contentType === undefined ? null : mediaTypeIn(contentType) || null
  if (dataContentType?.startsWith('application/cloudevents') === true) {
    if (dataContentType === 'application/cloudevents+json') return decodeEnvelope(record.value)
    return refuse(
      'UNSUPPORTED_EVENT_FORMAT',
      'the only event format taken is application/cloudevents+json',
      'content-type',
    )
  }

  const texts = ['', '', '', '']
  const faults: InputFault[] = []
  for (let slot = 0; slot < CORE.length; slot++) {
    const name = CORE[slot] as CoreAttribute
    const bytes = values[slot]
    const last = latest[slot]
    if (last !== undefined && last.bytes === bytes) {
      texts[slot] = last.text
      continue
    }
    const text = bytes === undefined ? undefined : (textOf(bytes) ?? null)
    const fault = attributeFault(name, text, labels[slot] ?? name)
    if (fault !== undefined) faults.push(fault)
    else if (bytes !== undefined) latest[slot] = { bytes, text: text ?? '' }
    texts[slot] = text ?? ''
  }
  const [first, ...others] = faults
  if (first !== undefined) return { ok: false, faults: [first, ...others] }
  const [id = '', source = '', type = ''] = texts
  // Not checked for UTF-8: what is not comes out malformed as a time as well.
  const time = values[TIME]?.toString('utf8') ?? null
  return { ok: true, value: { id, source, type, time, dataContentType, data: record.value, extensions } }
}

/** The last valid attribute of each name: a log hands out what repeats from record to record as the same bytes. */
const latest: ({ readonly bytes: Buffer; readonly text: string } | undefined)[] = []

function mediaTypeIn(bytes: Buffer): string {
  const last = latest[CONTENT_TYPE]
  if (last?.bytes === bytes) return last.text
  const text = mediaType(bytes.toString('utf8'))
  latest[CONTENT_TYPE] = { bytes, text }
  return text
}

function slotOf(name: string): number | undefined {
  return slotOfHeader.get(name) ?? (name.length <= 16 ? slotOfHeader.get(name.toLowerCase()) : undefined)
}

function isExtension(name: string): boolean {
  return name.startsWith('ce_') || name.slice(0, 3).toLowerCase() === 'ce_'
}

function attributeOf(headerName: string): string {
  return headerName.startsWith('ce_') ? headerName.slice(3) : 'content-type'
}
