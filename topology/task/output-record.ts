import { hash } from 'node:crypto'
import { ReusedBytes } from '../../common/reused-bytes.js'
import { MAX_RECORD_BYTES } from '../ingest/record-bytes.js'
import type { Headers, NewRecord } from '../log/log.js'
import type { EventPosition, JournalEvent, OutputRecord, OutputTopic } from '../processor.js'

/** An output as its fold has made it. It becomes bytes when it is sent: a replay, which sends nothing, spares that. */
export interface Output {
  readonly output: OutputTopic
  readonly record: OutputRecord
  /** The event that made it, and its place among that event's outputs. */
  readonly position: EventPosition
  readonly index: number
  /** The fold's time, ms. */
  readonly time: number
  /** What its acknowledgement makes known to the journal. */
  readonly acknowledged?: JournalEvent
}

/** Bytes of key, value and headers at most, but for those that the engine adds: exact where it could matter. */
export function outputBytes({ key, value, headers }: OutputRecord): number {
  let length = key.length + value.length
  for (const [name, text] of headers) length += name.length + text.length
  if (length * MAX_BYTES_PER_UNIT <= MAX_RECORD_BYTES) return length * MAX_BYTES_PER_UNIT
  let bytes = Buffer.byteLength(key) + Buffer.byteLength(value)
  for (const [name, text] of headers) bytes += Buffer.byteLength(name) + Buffer.byteLength(text)
  return bytes
}

/** Of a text in UTF-8. */
const MAX_BYTES_PER_UNIT = 3

/** Name space of output ids: 4d1f2b1e-6d0c-5c53-9d5a-0f2f1d7c8a11. */
const NAMESPACE = Buffer.from('4d1f2b1e6d0c5c539d5a0f2f1d7c8a11', 'hex')
const SPEC_VERSION: Header = ['ce_specversion', Buffer.from('1.0')]

/** The record to send. Its id follows from where it was made, so a repeat carries the same; `journal` is `topic/partition`. */
export function sendableOutput({ record, position, index, time }: Output, journal: string): NewRecord {
  const name = `${journal}/${position.offset}/${position.index}/${index}`
  const key = Buffer.from(record.key)
  const headers = [SPEC_VERSION, ['ce_id', Buffer.from(uuid5(name))] as const, timeHeader(time)]
  for (const [header, value] of record.headers) {
    headers.push(value === record.key ? [header, key] : knownHeader(header, value))
  }
  const value = typeof record.value === 'string' ? knownHeader(VALUE, record.value)[1] : record.value
  return { key, value, headers }
}

type Header = Headers[number]

let lastTime = Number.NaN
let lastTimeHeader: Header = ['ce_time', Buffer.alloc(0)]

/** Outputs of one journal record have one time. */
function timeHeader(time: number): Header {
  if (time !== lastTime) {
    lastTime = time
    lastTimeHeader = ['ce_time', Buffer.from(new Date(time).toISOString())]
  }
  return lastTimeHeader
}

/** The first few texts of each header, with their bytes: most headers have no others. */
const known = new Map<string, Map<string, Header>>()
const MAX_KNOWN_TEXTS = 16
const MAX_KNOWN_LENGTH = 200
/** Stands for the value: no header has this name. */
const VALUE = ''

function knownHeader(name: string, text: string): Header {
  let texts = known.get(name)
  if (texts === undefined) known.set(name, (texts = new Map<string, Header>()))
  const found = texts.get(text)
  if (found !== undefined) return found
  const header: Header = [name, Buffer.from(text)]
  if (texts.size < MAX_KNOWN_TEXTS && text.length <= MAX_KNOWN_LENGTH) texts.set(text, header)
  return header
}

const hashedName = new ReusedBytes()

/** UUID 5 (RFC 9562) in our name space. The package `uuid` makes hash objects for it: five times the cost. */
function uuid5(name: string): string {
  const room = hashedName.room(NAMESPACE.length + name.length * MAX_BYTES_PER_UNIT)
  NAMESPACE.copy(room)
  const hex = hash('sha1', hashedName.head(NAMESPACE.length + room.write(name, NAMESPACE.length)))
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
