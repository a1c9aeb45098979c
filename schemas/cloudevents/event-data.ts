import type { AvroRecordSchema } from '../avro.js'
import { refuse } from '../input-errors.js'
import type { InputResult } from '../input-errors.js'
import type { SchemaRegistry } from '../registry/schema-registry.js'
import type { CloudEvent, EventRecord } from './cloud-event.js'
import { decodeRecord } from './record.js'

export type EventWithData = CloudEvent & { readonly data: Buffer }

/** The CloudEvent that a record carries, with the data that its type asks for. */
export function decodeEventWithData(record: EventRecord): InputResult<EventWithData> {
  if (record.value === null) return refuse('NULL_VALUE', 'value is null')
  if (record.value.length === 0) return refuse('EMPTY_VALUE', 'value is empty')
  const decoded = decodeRecord(record)
  if (decoded.ok && decoded.value.data === null) return refuse('MISSING_DATA', 'the event has no data', 'data')
  return decoded as InputResult<EventWithData>
}

/**
 * The data of an event in Avro; undefined: it is not. Without a registry it is refused with NO_SCHEMA_REGISTRY; with one the result
 * may be a promise, which rejects only with REGISTRY_UNAVAILABLE.
 */
export function avroDataOf(
  { data, dataContentType }: EventWithData,
  registry: SchemaRegistry | undefined,
  schema: AvroRecordSchema,
): InputResult<unknown> | Promise<InputResult<unknown>> | undefined {
  if (dataContentType !== 'application/avro' && (dataContentType !== null || data[0] !== 0)) return undefined
  if (registry === undefined) return refuse('NO_SCHEMA_REGISTRY', 'the data is Avro, and no schema registry is set')
  return registry.decode(data, schema)
}
