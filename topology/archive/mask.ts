import { createHmac } from 'node:crypto'
import type { JournalReader } from '../audit/journal-source.js'
import { blockCodec } from '../journal/block-codec.js'
import type { BlockCodec } from '../journal/block-codec.js'
import type { JournalEntry } from '../journal/entry.js'
import type { LogRecord } from '../log/log.js'
import type { Processor } from '../processor.js'

/**
 * Journals with fields replaced by pseudonyms before anything else sees them, so that what is folded, kept and sealed of them
 * fits together. A field is `Event.field.field`; all texts in it are replaced, the same text always by the same pseudonym of
 * the secret. Originals beside events go altogether.
 */
export function maskingReader(
  reader: JournalReader,
  journals: ReadonlyMap<string, Processor>,
  fields: readonly string[],
  secret: Buffer,
): JournalReader {
  const codecs = new Map([...journals].map(([topic, { events }]) => [topic, blockCodec(events)]))
  const paths = fields.map((field) => field.split('.'))
  return {
    topic: (name) => reader.topic(name),
    offsets: (partition) => reader.offsets(partition),
    offsetForTime: (partition, time) => reader.offsetForTime(partition, time),
    async read(partition, offset, options) {
      const batch = await reader.read(partition, offset, options)
      const codec = codecs.get(partition.topic)
      if (codec === undefined) return batch
      return { ...batch, records: batch.records.map((record) => maskedRecord(record, codec, paths, secret)) }
    },
  }
}

function maskedRecord(
  record: LogRecord,
  codec: BlockCodec,
  paths: readonly (readonly string[])[],
  secret: Buffer,
): LogRecord {
  const { value } = record
  if (value === null) return record
  let entries: readonly JournalEntry[]
  try {
    entries = codec.decode(value)
  } catch {
    // Whatever it is, it must not come through.
    return { ...record, key: null, value: Buffer.from('masked'), headers: [] }
  }
  return { ...record, value: codec.encode(entries.map((entry) => maskedEntry(entry, paths, secret))) }
}

function maskedEntry(entry: JournalEntry, paths: readonly (readonly string[])[], secret: Buffer): JournalEntry {
  if (entry.kind !== 'event') return entry
  const { original: _original, event, ...rest } = entry
  const masks = paths.filter(([type]) => type === event.type).map(([, ...path]) => path)
  const data = masks.reduce<unknown>((masked, path) => maskAt(masked, path, secret), event.data) as object
  return { ...rest, event: { type: event.type, data } }
}

function maskAt(value: unknown, path: readonly string[], secret: Buffer): unknown {
  if (Array.isArray(value)) return value.map((item) => maskAt(item, path, secret))
  const [name, ...rest] = path
  if (name === undefined) return maskAll(value, secret)
  if (typeof value !== 'object' || value === null || !(name in value)) return value
  return { ...value, [name]: maskAt((value as Record<string, unknown>)[name], rest, secret) }
}

function maskAll(value: unknown, secret: Buffer): unknown {
  if (typeof value === 'string') return value === '' ? '' : pseudonym(value, secret)
  if (Array.isArray(value)) return value.map((item) => maskAll(item, secret))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, maskAll(item, secret)]))
}

function pseudonym(text: string, secret: Buffer): string {
  return `masked-${createHmac('sha256', secret).update(text).digest('hex').slice(0, 16)}`
}
