import type { LogRecord } from '../../topology/log/log.js'

type Text = string | null

/** A record as clients see it, but for its value. `encoding` is there when key, value or a header had to be base64. */
interface RecordJson {
  readonly partition: number
  readonly offset: number
  /** ms since 1970. */
  readonly timestamp: number
  readonly key: Text
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly encoding?: 'base64'
}

/** The record as JSON text, all bytes as base64: nothing is lost, a mirror can use it. */
export function base64Record(partition: number, record: LogRecord): string {
  const base64 = (bytes: Buffer): string => bytes.toString('base64')
  const json: RecordJson = {
    ...identity(partition, record),
    key: record.key === null ? null : base64(record.key),
    headers: headersOf(record, base64),
    encoding: 'base64',
  }
  return withValue(json, JSON.stringify(record.value === null ? null : base64(record.value)))
}

/**
 * The record as JSON text, for reading: its value by `decode` where it knows the topic, else the JSON that it is, with all its
 * digits, else as text, else base64; keys and headers as text.
 */
export function readableRecord(partition: number, record: LogRecord, decode: (record: LogRecord) => unknown): string {
  const { value, isBase64 } = readableValue(record, decode)
  const json: RecordJson = {
    ...identity(partition, record),
    key: record.key === null ? null : record.key.toString('utf8'),
    headers: headersOf(record, (bytes) => bytes.toString('utf8')),
    ...(isBase64 && { encoding: 'base64' as const }),
  }
  return withValue(json, value)
}

function withValue(record: RecordJson, value: string): string {
  return `${JSON.stringify(record).slice(0, -1)},"value":${value}}`
}

function identity(
  partition: number,
  record: LogRecord,
): { readonly partition: number; readonly offset: number; readonly timestamp: number } {
  return { partition, offset: record.offset, timestamp: record.timestamp }
}

/** As JSON text. */
function readableValue(
  record: LogRecord,
  decode: (record: LogRecord) => unknown,
): { readonly value: string; readonly isBase64: boolean } {
  if (record.value === null) return { value: 'null', isBase64: false }
  const decoded = decode(record)
  if (decoded !== undefined) return { value: JSON.stringify(decoded), isBase64: false }
  const text = utf8Text(record.value)
  if (text === undefined) return { value: JSON.stringify(record.value.toString('base64')), isBase64: true }
  return { value: isJson(text) ? text : JSON.stringify(text), isBase64: false }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function utf8Text(bytes: Buffer): string | undefined {
  try {
    const text = utf8.decode(bytes)
    return text.includes('\u0000') ? undefined : text
  } catch {
    return undefined
  }
}

/** An object or a list: anything else is text. */
function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Header names may repeat, and may be `__proto__`: repeated ones become lists, the object has no prototype. */
function headersOf(record: LogRecord, textOf: (bytes: Buffer) => string): RecordJson['headers'] {
  const headers = Object.create(null) as Record<string, string | string[]>
  for (const [name, bytes] of record.headers) {
    const known = headers[name]
    const text = textOf(bytes)
    if (known === undefined) headers[name] = text
    else if (Array.isArray(known)) known.push(text)
    else headers[name] = [known, text]
  }
  return headers
}
