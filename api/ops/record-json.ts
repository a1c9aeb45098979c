import type { LogRecord } from '../../topology/log/log.js'

type Text = string | null

/** A record as clients see it. `encoding` is there when key, value or a header had to be base64. */
export interface RecordJson {
  readonly partition: number
  readonly offset: number
  /** ms since 1970. */
  readonly timestamp: number
  readonly key: Text
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly value: unknown
  readonly encoding?: 'base64'
}

/** All bytes as base64: nothing is lost, a mirror can use it. */
export function base64Record(partition: number, record: LogRecord): RecordJson {
  const base64 = (bytes: Buffer): string => bytes.toString('base64')
  return {
    ...identity(partition, record),
    key: record.key === null ? null : base64(record.key),
    headers: headersOf(record, base64),
    value: record.value === null ? null : base64(record.value),
    encoding: 'base64',
  }
}

/** For reading: value by `decode` where it knows the topic, else JSON, else text, else base64; keys and headers as text. */
export function readableRecord(
  partition: number,
  record: LogRecord,
  decode: (record: LogRecord) => unknown,
): RecordJson {
  const { value, isBase64 } = readableValue(record, decode)
  return {
    ...identity(partition, record),
    key: record.key === null ? null : record.key.toString('utf8'),
    headers: headersOf(record, (bytes) => bytes.toString('utf8')),
    value,
    ...(isBase64 && { encoding: 'base64' as const }),
  }
}

function identity(
  partition: number,
  record: LogRecord,
): { readonly partition: number; readonly offset: number; readonly timestamp: number } {
  return { partition, offset: record.offset, timestamp: record.timestamp }
}

function readableValue(
  record: LogRecord,
  decode: (record: LogRecord) => unknown,
): { readonly value: unknown; readonly isBase64: boolean } {
  if (record.value === null) return { value: null, isBase64: false }
  const decoded = decode(record)
  if (decoded !== undefined) return { value: decoded, isBase64: false }
  const text = utf8Text(record.value)
  if (text === undefined) return { value: record.value.toString('base64'), isBase64: true }
  return { value: jsonOr(text), isBase64: false }
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

/** Objects and lists as JSON; anything else stays the text that it is. */
function jsonOr(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
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
