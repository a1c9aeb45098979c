import type { AvroRecordSchema } from '../../schemas/avro.js'
import { fields, list, nullable, text } from '../../schemas/record-fields.js'
import type { Field } from '../../schemas/record-fields.js'

/*
 * What a journal block is in Avro, behind its version and checksum. Its parts are written and read one by one, without an
 * object for each.
 */

const record = (name: string, ...of: readonly (readonly Field[])[]): AvroRecordSchema => {
  return { type: 'record', name, fields: of.flat() }
}

export const originSchema = record(
  'Origin',
  fields(nullable('string'), 'commandId', 'effectId', 'actor', 'reason').map((field) => ({ ...field, default: null })),
)

export const originalSchema = record(
  'Original',
  fields(nullable('bytes'), 'key', 'value'),
  fields(list(record('Header', text('name'), fields('bytes', 'value'))), 'headers'),
)

export const timerSchema = record('TimerFired', fields('long', 'due'), text('id'), fields('long', 'epoch'))

export const ownerSchema = record(
  'OwnerAnnounced',
  fields('long', 'epoch'),
  fields('int', 'foldVersion'),
  text('settings'),
  fields('boolean', 'preloaded'),
  text('instance'),
)

/** `events`: the Avro records of a domain, in the order of their branches. */
export function blockSchema(events: readonly AvroRecordSchema[]): AvroRecordSchema {
  const entry = record(
    'Entry',
    [...fields('int', 'source'), ...fields('long', 'offset'), ...fields('int', 'index')],
    fields(nullable(originSchema), 'origin'),
    fields(nullable(originalSchema), 'original'),
    fields([timerSchema, ownerSchema, ...events], 'body'),
  )
  return record('Block', fields(list('string'), 'sources'), fields(list(entry), 'entries'))
}
