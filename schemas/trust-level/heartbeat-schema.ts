import type { AvroRecordSchema } from '../avro.js'
import { JSON_SCHEMA_DRAFT } from '../json-schema.js'
import { TRUST_LEVELS } from './journal-events.js'

/** The types that say "trust level": NCMP's requirement's, and the one that upstream's plugins send. (trust levels, section 0) */
export const HEARTBEAT_TYPES = [
  'org.onap.cm.events.trustlevel-notification',
  'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel',
] as const

/** A heartbeat's data in Avro. A symbol that a newer writer has added reads as NONE. (trust levels, section 3) */
export const deviceTrustLevelAvro: AvroRecordSchema = {
  type: 'record',
  name: 'DeviceTrustLevel',
  namespace: 'org.onap.cps.ncmp.events.trustlevel',
  doc: 'The trust level of one device; the event id is its cm handle id.',
  fields: [
    {
      name: 'data',
      type: {
        type: 'record',
        name: 'Data',
        fields: [
          {
            name: 'trustLevel',
            type: { type: 'enum', name: 'TrustLevel', symbols: [...TRUST_LEVELS], default: 'NONE' },
          },
        ],
      },
    },
  ],
}

/** A heartbeat's data in JSON, as upstream publishes it, with the words of the enum. (trust levels, section 3) */
export const deviceTrustLevelJson = {
  $schema: JSON_SCHEMA_DRAFT,
  $id: 'urn:cps:org.onap.cps.ncmp.events:device-trust-level-event-schema:1.0.0',
  title: 'DeviceTrustLevel',
  type: 'object',
  properties: {
    data: {
      type: 'object',
      properties: {
        trustLevel: { type: 'string', enum: [...TRUST_LEVELS], description: 'Whether the device can be trusted.' },
      },
      required: ['trustLevel'],
      additionalProperties: false,
    },
  },
  required: ['data'],
  additionalProperties: false,
} as const
