import { SELECTION_MODES } from '../../schemas/address-health/journal-events.js'
import { actHeaders, demandHeaders } from '../ncmp/schemas.js'
import { ownErrors } from '../ops/schemas.js'

/** JSON schemas of the external platforms, for checks of parameters and for /openapi.json. */

const interval = (description: string): object => ({ type: 'integer', minimum: 0, description })
const time = { type: ['string', 'null'], format: 'date-time' }

const parameters = {
  selectionMode: { type: 'string', enum: [...SELECTION_MODES] },
  detectInterval: interval('ms; 0: no detection'),
  detectThreshold: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    description: 'Share of failed calls that fails an address',
  },
  retryInterval: interval('ms; 0: no automatic repair'),
  retryAttempts: { type: 'integer', minimum: 1, description: 'Successful retries in a row that repair' },
  minCalls: { type: 'integer', minimum: 1, description: 'Fewer calls in an interval are not judged' },
  panicMode: { type: 'boolean', description: 'With no active address pick among the failed ones' },
}

const place = {
  type: 'object',
  properties: { address: { type: 'string' }, position: { type: 'integer', minimum: 0 } },
}

export const platformSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    ...parameters,
    addresses: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          ...place.properties,
          state: { type: 'string', enum: ['active', 'inactive', 'failed'] },
          since: time,
          window: {
            type: 'object',
            description: 'Counts of the interval that runs',
            properties: { calls: { type: 'integer' }, failed: { type: 'integer' } },
          },
          retry: {
            type: 'object',
            properties: {
              successes: { type: 'integer', description: 'In a row' },
              nextAt: { ...time, description: 'When the next may start; in the past: due since' },
            },
          },
        },
      },
    },
  },
}

const newAddress = {
  type: 'object',
  required: ['address'],
  properties: { address: { type: 'string' }, state: { type: 'string', enum: ['active', 'inactive'] } },
}

export const creationBody = {
  type: 'object',
  required: ['name', 'selectionMode'],
  properties: {
    name: { type: 'string' },
    ...parameters,
    addresses: { type: 'array', items: { anyOf: [{ type: 'string' }, newAddress] } },
  },
}

export const updateBody = { type: 'object', properties: parameters }

export const additionBody = {
  ...newAddress,
  properties: { ...newAddress.properties, position: { type: 'integer', description: 'Absent: the last' } },
}

export const selectionBody = {
  type: 'object',
  properties: { callId: { type: ['string', 'integer'], description: 'Names the call; kept digit for digit' } },
}

export const selectionSchema = {
  type: 'object',
  properties: {
    ...place.properties,
    attemptId: { type: 'string', description: 'This call is a retry: send it along with the outcome' },
    fallback: { ...place, description: 'Another address for this call, should the first fail' },
    addresses: { type: 'array', items: place, description: 'INTERCEPTOR_SERVICE: all active ones, to pick from' },
  },
}

const names = { name: { type: 'string', description: 'Name of the platform, percent-encoded once' } }
export const platformParams = { type: 'object', properties: names }
export const addressParams = {
  type: 'object',
  properties: { ...names, position: { type: 'integer', minimum: 0, maximum: 2_147_483_647 } },
}
export const expectedAddress = {
  type: 'object',
  properties: { address: { type: 'string', description: '409 when another one stands there by then' } },
}

const described = (description: string, schema: object): object => ({ description, ...schema })

/** What all routes that change something have in common. */
export const changing = { tags: ['external platforms'], headers: actHeaders }
export const reading = { tags: ['external platforms'], headers: demandHeaders }
export const platformResponse = (status: number, description: string): object => ({
  response: { [status]: described(description, platformSchema), ...ownErrors },
})
