import type { AvroRecordSchema } from '../avro.js'
import type { InputResult } from '../input-errors.js'

/** Reads Avro in the registry's wire format: byte 0, 4-byte schema id, body. */
export interface SchemaRegistry {
  /**
   * The record as `reader` sees it, by Avro's schema resolution; longs are bigint. At once where the schema is known, else a
   * promise. Refused: NOT_SCHEMA_FRAMED, UNKNOWN_SCHEMA_ID, UNSUPPORTED_SCHEMA, INCOMPATIBLE_SCHEMA, AVRO_MALFORMED.
   * Rejects with REGISTRY_UNAVAILABLE (retryable) when the registry cannot tell: never the record's fault.
   */
  decode(value: Buffer, reader: AvroRecordSchema): InputResult<unknown> | Promise<InputResult<unknown>>
}
