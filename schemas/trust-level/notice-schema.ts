import { JSON_SCHEMA_DRAFT } from '../json-schema.js'
import { TRUST_LEVELS } from './journal-events.js'

const level = { type: 'string', enum: [...TRUST_LEVELS] }

/** A notice of a changed trust level; a handle that has just been registered has no old one. (trust levels, section 3) */
export const noticeJson = {
  $schema: JSON_SCHEMA_DRAFT,
  $id: 'urn:cps:org.onap.cps.ncmp.events:inventory-event:1.0.0',
  title: 'AvcEvent',
  type: 'object',
  properties: {
    data: {
      type: 'object',
      properties: {
        attributeValueChange: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              attributeName: { type: 'string', enum: ['trustLevel'] },
              oldAttributeValue: level,
              newAttributeValue: level,
            },
            required: ['attributeName', 'newAttributeValue'],
          },
        },
      },
      required: ['attributeValueChange'],
    },
  },
  required: ['data'],
} as const
