import type { AvroRecordSchema } from './avro.js'

export type Field = AvroRecordSchema['fields'][number]

/**
 * Makes records of a namespace. All records of a journal are branches of one union: every named type in it has a name of
 * its own.
 */
export const recordsOf =
  (namespace: string) =>
  (name: string, fields: readonly Field[]): AvroRecordSchema => ({ type: 'record', name, namespace, fields })

/** Fields of one type. */
export const fields = (type: unknown, ...names: readonly string[]): readonly Field[] =>
  names.map((name) => ({ name, type }))
export const text = (...names: readonly string[]): readonly Field[] => fields('string', ...names)
export const list = (items: unknown): unknown => ({ type: 'array', items })
export const nullable = (type: unknown): unknown => ['null', type]
