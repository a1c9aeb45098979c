import { JSON_SCHEMA_DRAFT } from '../json-schema.js'
import { NODE_TYPES } from './journal-events.js'

const text = { type: 'string' }
const transactionId = { type: ['string', 'number'] }

/** Data of the messages that have some: init and keep-alive answer of an instance, setup of a RAN. (keep-alive, section 9) */
export const e2tMessageJson = {
  $schema: JSON_SCHEMA_DRAFT,
  $id: 'urn:pulsefold:e2t-message:1.0.0',
  title: 'E2tMessage',
  anyOf: [
    {
      title: 'E2tInstance',
      type: 'object',
      properties: { address: { type: 'string', maxLength: 255 }, pod_name: text },
      required: ['address'],
    },
    {
      title: 'E2Setup',
      type: 'object',
      properties: {
        ranName: { type: 'string', maxLength: 255, description: 'Absent: attribute meid names the RAN' },
        e2tAddress: { type: 'string', minLength: 1, maxLength: 255 },
        globalNbId: {
          type: 'object',
          properties: { plmnId: { type: 'string', minLength: 1 }, nbId: { type: 'string', minLength: 1 } },
          required: ['plmnId', 'nbId'],
        },
        nodeType: { type: 'string', enum: [...NODE_TYPES] },
        ranFunctions: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              ranFunctionId: { type: 'integer' },
              ranFunctionRevision: { type: 'integer' },
              ranFunctionDefinition: text,
              ranFunctionOid: text,
            },
          },
        },
        transactionId,
      },
      required: ['e2tAddress', 'globalNbId', 'nodeType'],
    },
  ],
} as const

const ranOf = { ranName: text, transactionId: text }

/** Data of the commands that have some: answers to setups, and the health check of a RAN. (keep-alive, section 4) */
export const e2tCommandJson = {
  $schema: JSON_SCHEMA_DRAFT,
  $id: 'urn:pulsefold:e2t-command:1.0.0',
  title: 'E2tCommand',
  anyOf: [
    {
      title: 'E2SetupResponse',
      type: 'object',
      properties: {
        ...ranOf,
        globalRicId: {
          type: 'object',
          properties: { plmnId: text, ricId: text },
          required: ['plmnId', 'ricId'],
        },
      },
      required: ['ranName', 'transactionId', 'globalRicId'],
    },
    {
      title: 'E2SetupFailure',
      type: 'object',
      properties: { ...ranOf, cause: text, timeToWaitSec: { type: 'integer', minimum: 0 } },
      required: ['ranName', 'transactionId', 'cause', 'timeToWaitSec'],
    },
    { title: 'ServiceQuery', type: 'object', properties: { ranName: text }, required: ['ranName'] },
  ],
} as const
