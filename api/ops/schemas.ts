/** JSON schemas of our own surface, for checks of parameters and for /openapi.json. */

export const ownError = {
  description: 'Refused',
  type: 'object',
  properties: {
    status: { type: 'integer' },
    code: { type: 'string' },
    message: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          index: { type: 'integer' },
          code: { type: 'string' },
          field: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
  },
}

/** The refusals that every route of this surface may answer. */
export const ownErrors = { '4XX': ownError, '5XX': ownError }

export const positionSchema = {
  type: 'object',
  properties: { topic: { type: 'string' }, partition: { type: 'integer' }, offset: { type: 'integer' } },
}
