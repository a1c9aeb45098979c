import avsc from 'avsc'
import { cut, ensureError } from '../../common/errors.js'
import type { AvroRecordSchema } from '../avro.js'
import { refuse } from '../input-errors.js'
import type { InputResult } from '../input-errors.js'
import { endOfAvro } from './avro-length.js'
import { bigintLongs } from './bigint-long.js'

/** Reads bodies of one writer schema as one reader schema sees them. Refused: INCOMPATIBLE_SCHEMA, AVRO_MALFORMED. */
export type AvroReader = (body: Buffer) => InputResult<unknown>

/**
 * Avro's schema resolution: added fields are skipped, missing ones take the reader's default, unknown symbols the enum's.
 * Records and enums are matched by the field that holds them, not by name, so that a producer may name its types as it likes.
 */
export function avroReader(writer: avsc.Type, schema: AvroRecordSchema): AvroReader {
  let reader: avsc.Type
  let resolver: ReturnType<avsc.Type['createResolver']>
  try {
    reader = avsc.Type.forSchema(namedAs(schema, writer) as avsc.Schema, { ...bigintLongs, omitRecordMethods: true })
    resolver = reader.createResolver(writer, { ignoreNamespaces: true })
  } catch (error) {
    const reason = cut(ensureError(error).message, 160)
    return () => refuse('INCOMPATIBLE_SCHEMA', `the writer's schema cannot be read as ${schema.name}: ${reason}`)
  }
  return (body) => {
    try {
      if (endOfAvro(writer, body, 0) !== body.length) {
        return refuse('AVRO_MALFORMED', 'the body is shorter or longer than its schema says')
      }
      return { ok: true, value: reader.fromBuffer(body, resolver) as unknown }
    } catch (error) {
      return refuse('AVRO_MALFORMED', `the body is not what its schema says: ${cut(ensureError(error).message, 160)}`)
    }
  }
}

/** The reader's schema with the writer's names as aliases. */
function namedAs(schema: unknown, writer: avsc.Type): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  if (writer.name === undefined) return schema
  const fields = 'fields' in schema ? (schema as AvroRecordSchema).fields : undefined
  if (fields === undefined || !isRecord(writer)) return { ...schema, aliases: [writer.name] }
  return {
    ...schema,
    aliases: [writer.name],
    fields: fields.map((field) => {
      const written = writer.fields.find(({ name }) => name === field.name)
      return written === undefined ? field : { ...field, type: namedAs(field.type, written.type) }
    }),
  }
}

function isRecord(type: avsc.Type): type is avsc.types.RecordType {
  return avsc.Type.isType(type, 'record')
}
