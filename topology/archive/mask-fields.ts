import { cut } from '../../common/errors.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import { ArchiveError } from './errors.js'

/** What is to be masked of journal entries. */
export interface MaskedFields {
  /** Fields that hold texts, below the data of an event, by its type. */
  readonly paths: ReadonlyMap<string, readonly (readonly string[])[]>
  /** Members of entries themselves, of whatever event or term. */
  readonly members: ReadonlySet<EntryMember>
}

const entryMembers = ['actor', 'reason', 'commandId'] as const
export type EntryMember = (typeof entryMembers)[number]

/**
 * Fields as `Event.field.field`, or `*.field` for the fields of that name in all events; or `actor`, `reason`, `commandId` of all entries.
 * All texts in them are meant; words of an enumeration are none. Errors: ARCHIVE_MASK_INVALID for a field that there is not, or
 * that holds no text: it would mask nothing.
 */
export function maskedFields(texts: readonly string[], events: readonly AvroRecordSchema[]): MaskedFields {
  const known = new Map(events.map((event) => [event.name, textPaths(event, [])]))
  const paths = new Map<string, (readonly string[])[]>()
  const members = new Set<EntryMember>()
  for (const text of texts) {
    const member = entryMembers.find((one) => one === text)
    if (member !== undefined) {
      members.add(member)
      continue
    }
    const [type = '', ...path] = text.split('.')
    const isMeant = (event: string, field: readonly string[]): boolean =>
      type === '*'
        ? path.length === 1 && field.includes(path[0] ?? '')
        : event === type && path.every((name, i) => field[i] === name)
    let isThere = false
    for (const [event, fields] of known) {
      const meant = fields.filter((field) => isMeant(event, field))
      isThere ||= meant.length > 0
      paths.set(event, [...(paths.get(event) ?? []), ...meant])
    }
    if (!isThere) throw noText(text, known.get(type) ?? [], [...known.keys()])
  }
  return { paths, members }
}

function noText(text: string, fields: readonly (readonly string[])[], events: readonly string[]): ArchiveError {
  const there = fields.length > 0 ? fields.map((path) => path.join('.')) : [...entryMembers, ...events]
  return new ArchiveError('ARCHIVE_MASK_INVALID', `${cut(text)} is no text of an entry; there are ${there.join(', ')}`)
}

const TEXTLESS = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes']

/** Where texts are in a schema; an array is as its items. */
function textPaths(schema: unknown, path: readonly string[]): readonly (readonly string[])[] {
  if (Array.isArray(schema)) return schema.flatMap((one) => textPaths(one, path))
  if (typeof schema === 'string') return TEXTLESS.includes(schema) ? [] : [path]
  const { type, items, fields = [] } = schema as { type: unknown; items?: unknown; fields?: AvroRecordSchema['fields'] }
  if (type === 'enum') return []
  if (type === 'array') return textPaths(items, path)
  if (type === 'record') return fields.flatMap((field) => textPaths(field.type, [...path, field.name]))
  return textPaths(type, path)
}
