import { createHmac } from 'node:crypto'
import type { Entry } from '../../state-stores/key-value-store.js'
import type { Audit } from '../audit/audit.js'
import type { JournalReader } from '../audit/journal-source.js'
import { copiesOf } from '../audit/loaded-records.js'
import { blockCodec } from '../journal/block-codec.js'
import type { BlockCodec } from '../journal/block-codec.js'
import type { JournalEntry } from '../journal/entry.js'
import type { LogRecord } from '../log/log.js'
import type { Processor } from '../processor.js'
import { maskedFields } from './mask-fields.js'
import type { EntryMember } from './mask-fields.js'

/** Journals with fields replaced by pseudonyms before anything else sees them, so that what is folded, kept and sealed fits together. */
export interface Masking {
  readonly reader: JournalReader
  /** Learns pseudonyms from rows that were folded in a run before: timers name what is in rows. */
  learn(rows: readonly Entry[]): void
  /** Records in which timers and results at these places (`offset:index`) name nothing any more: no fold had asked for them. */
  withoutNames(records: readonly LogRecord[], codec: BlockCodec, places: ReadonlySet<string>): readonly LogRecord[]
}

const NAMELESS = 'masked'
const PSEUDONYM = /masked-[0-9a-f]{16}/g
/** Between, and before, the parts of what timers and effects are called; in parts that are no text of their own, in turn. */
const SEPARATORS = [/(\u0000)/, /(^\$answer\/|^\d+\.\d+\.[a-z][\w-]*\.)/, /(\/)/]

/**
 * Masks fields (see `maskedFields`): all texts in them, the same text always by the same pseudonym of the secret. Originals beside events
 * go altogether. What timers and effects are called follows from texts of before; what a fold of the masked journal has asked for can
 * name no other, and all else is made to name nothing. Errors: ARCHIVE_MASK_INVALID.
 */
export function maskingOf(
  reader: JournalReader,
  journals: ReadonlyMap<string, Processor>,
  fields: readonly string[],
  secret: Buffer,
  peerJournal?: Audit['peerJournal'],
): Masking {
  const codecs = new Map([...journals].map(([topic, { events }]) => [topic, blockCodec(events)]))
  const ofCopies = new Map(
    [...journals].flatMap(([topic, { name, events }]) =>
      copiesOf(topic, peerJournal?.(name)).map((copy) => [copy, blockCodec(events)] as const),
    ),
  )
  const events = [...journals.values()].flatMap((processor) => Object.values(processor.events))
  const { paths, members } = maskedFields(fields, events)
  const given = new Set<string>()

  function pseudonym(text: string): string {
    return `masked-${createHmac('sha256', secret).update(text).digest('hex').slice(0, 16)}`
  }

  function mask(text: string): string {
    if (text === '') return ''
    const masked = pseudonym(text)
    given.add(masked)
    return masked
  }

  function maskAt(value: unknown, path: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((item) => maskAt(item, path))
    const [name, ...rest] = path
    if (name === undefined) return eachText(value, mask)
    if (typeof value !== 'object' || value === null || !(name in value)) return value
    return { ...value, [name]: maskAt((value as Record<string, unknown>)[name], rest) }
  }

  function maskedName(name: string, [separator, ...others] = SEPARATORS): string {
    const masked = pseudonym(name)
    if (given.has(masked)) return masked
    if (separator === undefined) return name
    return name
      .split(separator)
      .map((part) => maskedName(part, others))
      .join('')
  }

  function maskedEntry(entry: JournalEntry): JournalEntry {
    if (entry.kind === 'timer') return { ...entry, id: maskedName(entry.id) }
    const told: Partial<Record<EntryMember, string>> = entry
    const masked = Object.fromEntries([...members].flatMap((name) => (told[name] ? [[name, mask(told[name])]] : [])))
    if (entry.kind === 'owner') return { ...entry, ...masked }
    const { original: _original, event, ...whole } = entry
    const { effectId } = whole
    const rest = { ...whole, ...masked, ...(effectId !== undefined && { effectId: maskedName(effectId) }) }
    const masks = paths.get(event.type) ?? []
    const fields = masks.reduce<unknown>((value, path) => maskAt(value, path), event.data)
    // What is called by texts of before is told again with its results.
    const data = eachText(fields, (text) => (text.includes('\u0000') ? maskedName(text) : text)) as object
    return { ...rest, event: { type: event.type, data } }
  }

  function maskedRecord(record: LogRecord, codec: BlockCodec, isFolded: boolean): LogRecord {
    const { value, offset, timestamp } = record
    const bare = { offset, timestamp, key: null, headers: [] }
    if (value === null) return { ...bare, value }
    let entries: readonly JournalEntry[]
    try {
      entries = codec.decode(value)
    } catch {
      // Whatever it is, it must not come through.
      return { ...bare, value: Buffer.from(NAMELESS) }
    }
    const masked = entries.map(maskedEntry)
    return { ...bare, value: codec.encode(isFolded ? masked : masked.map(withoutName)) }
  }

  return {
    reader: {
      topic: (name) => reader.topic(name),
      offsets: (partition) => reader.offsets(partition),
      offsetForTime: (partition, time) => reader.offsetForTime(partition, time),
      async read(partition, offset, options) {
        const batch = await reader.read(partition, offset, options)
        const own = codecs.get(partition.topic)
        const codec = own ?? ofCopies.get(partition.topic)
        if (codec === undefined) return batch
        return { ...batch, records: batch.records.map((record) => maskedRecord(record, codec, own !== undefined)) }
      },
    },
    learn(rows) {
      for (const bytes of rows.flat()) {
        for (const [masked] of bytes.toString('latin1').matchAll(PSEUDONYM)) given.add(masked)
      }
    },
    withoutNames(records, codec, places) {
      return records.map((record) => {
        const { offset, value } = record
        const entries = value === null || places.size === 0 ? [] : readable(codec, value)
        const kept = entries.map((entry, i): JournalEntry => {
          return places.has(`${offset}:${i}`) ? withoutName(entry) : entry
        })
        return kept.every((entry, i) => entry === entries[i]) ? record : { ...record, value: codec.encode(kept) }
      })
    },
  }
}

function eachText(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => eachText(item, change))
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, eachText(item, change)]))
}

function withoutName(entry: JournalEntry): JournalEntry {
  if (entry.kind === 'timer') return { ...entry, id: NAMELESS }
  return entry.kind === 'event' && entry.effectId !== undefined ? { ...entry, effectId: NAMELESS } : entry
}

function readable(codec: BlockCodec, value: Buffer): readonly JournalEntry[] {
  try {
    return codec.decode(value)
  } catch {
    return []
  }
}
