import type { AvroRecordSchema } from '../avro.js'
import { JSON_SCHEMA_DRAFT } from '../json-schema.js'
import { CALL_RESULTS } from './journal-events.js'

/** The type of a call outcome. (address health, section 5) */
export const CALL_OUTCOME_TYPE = 'com.opencloud.sis.call-outcome'

/** A call outcome's data in Avro. A symbol that a newer writer has added reads as `ignored`. (address health, section 5) */
export const callOutcomeAvro: AvroRecordSchema = {
  type: 'record',
  name: 'CallOutcome',
  namespace: 'com.opencloud.sis',
  doc: 'What became of one call to one address of an external platform.',
  fields: [
    { name: 'platform', type: 'string' },
    { name: 'address', type: 'string' },
    { name: 'result', type: { type: 'enum', name: 'CallResult', symbols: [...CALL_RESULTS], default: 'ignored' } },
    { name: 'cause', type: ['null', 'string'], default: null },
    { name: 'callId', type: ['string', 'long'] },
    { name: 'attemptId', type: ['null', 'string'], default: null },
  ],
}

/** A call outcome's data in JSON; `callId` may also be a whole number of any length. */
export const callOutcomeJson = {
  $schema: JSON_SCHEMA_DRAFT,
  $id: 'urn:pulsefold:call-outcome:1.0.0',
  title: 'CallOutcome',
  type: 'object',
  properties: {
    platform: { type: 'string', minLength: 1, maxLength: 255 },
    address: { type: 'string', minLength: 1, maxLength: 255 },
    result: { type: 'string', enum: [...CALL_RESULTS] },
    cause: { type: 'string', maxLength: 255, description: 'Why the call failed, in words' },
    callId: { type: ['string', 'integer'], description: 'Names the call; kept digit for digit' },
    attemptId: { type: 'string', description: 'As the selection gave it, when this call was a retry' },
  },
  required: ['platform', 'address', 'result', 'callId'],
} as const
