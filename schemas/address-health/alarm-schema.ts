import { JSON_SCHEMA_DRAFT } from '../json-schema.js'

/** An alarm of an address, or of a platform as a whole: that has no address and no counts. (address health, section 5) */
export const alarmJson = {
  $schema: JSON_SCHEMA_DRAFT,
  $id: 'urn:pulsefold:address-alarm:1.0.0',
  title: 'AddressAlarm',
  type: 'object',
  properties: {
    state: { type: 'string', enum: ['raised', 'cleared'] },
    platform: { type: 'string' },
    address: { type: 'string' },
    position: { type: 'integer', minimum: 0, description: 'Of the address in its platform' },
    failed: { type: 'integer', minimum: 0 },
    calls: { type: 'integer', minimum: 0 },
    proportion: { type: 'number', minimum: 0, maximum: 1, description: 'Of failed calls, when the alarm was raised' },
    reason: { type: 'string', description: 'The move that raised or cleared it, NO_ADDRESS of a platform' },
    journal: {
      type: 'object',
      description: 'The journal record that decided it',
      properties: { partition: { type: 'integer' }, offset: { type: 'integer' } },
      required: ['partition', 'offset'],
    },
    text: { type: 'string' },
  },
  required: ['state', 'platform', 'reason', 'journal', 'text'],
} as const
