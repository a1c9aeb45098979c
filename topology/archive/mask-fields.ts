import { cut } from '../../common/errors.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import { ArchiveError } from './errors.js'

/** What is to be masked of journal entries. */
export interface MaskedFields {
  /** Fields below the data of an event, by its type; an empty path is all of it. */
  readonly paths: ReadonlyMap<string, readonly (readonly string[])[]>
  /** Members of entries themselves, of whatever event or term. */
  readonly members: ReadonlySet<EntryMember>
}

const entryMembers = ['actor', 'reason', 'commandId'] as const
export type EntryMember = (typeof entryMembers)[number]

/**
 * Fields as `Event.field.field`, or `*.field` for the fields of that name in all events; or `actor`, `reason`, `commandId` of all entries.
 * Errors: ARCHIVE_MASK_INVALID for one that there is not: it would mask nothing.
 */
export function maskedFields(texts: readonly string[], events: readonly AvroRecordSchema[]): MaskedFields {
  const known = new Map(events.map((event) => [event.name, fieldPaths(event)]))
  const paths = new Map<string, (readonly string[])[]>()
  const members = new Set<EntryMember>()
  for (const text of texts) {
    const member = entryMembers.find((one) => one === text)
    if (member !== undefined) {
      members.add(member)
      continue
    }
    const [type = '', ...path] = text.split('.')
    const found = [...known].flatMap(([event, fields]): [string, readonly string[]][] => {
      if (type === '*') return fields.filter((field) => field.at(-1) === path.join('.')).map((field) => [event, field])
      const isThere = path.length === 0 || fields.some((field) => field.join('.') === path.join('.'))
      return event === type && isThere ? [[event, path]] : []
    })
    if (found.length === 0) throw unknownField(text, known.get(type) ?? [], [...known.keys()])
    for (const [event, field] of found) paths.set(event, [...(paths.get(event) ?? []), field])
  }
  return { paths, members }
}

function unknownField(text: string, fields: readonly (readonly string[])[], events: readonly string[]): ArchiveError {
  const there = fields.length > 0 ? fields.map((path) => path.join('.')) : [...entryMembers, ...events]
  return new ArchiveError('ARCHIVE_MASK_INVALID', `${cut(text)} is no field of an entry; there are ${there.join(', ')}`)
}

/** Paths of all fields of a record, those of records in it too. */
function fieldPaths(schema: unknown): readonly (readonly string[])[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldPaths)
  if (typeof schema !== 'object' || schema === null) return []
  const { type, items, fields } = schema as { type: unknown; items?: unknown; fields?: AvroRecordSchema['fields'] }
  if (type === 'array') return fieldPaths(items)
  if (fields === undefined) return fieldPaths(type)
  return fields.flatMap((field) => [[field.name], ...fieldPaths(field.type).map((path) => [field.name, ...path])])
}
