import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { ApiError } from '../errors.js'
import { demandOf, tellProvenance } from '../positions.js'
import { findByLongestAlternateId } from './find-cm-handle.js'
import * as schemas from './schemas.js'
import { restOutputCmHandle } from './shapes.js'

/** GET {ncmpInventory}/v1/ch?distinguishedName=: by alternate id, a name below it, or cm handle id. */
export function registerGetByDistinguishedName(app: FastifyInstance, api: Api): void {
  app.get<{ Querystring: { distinguishedName?: string; outputDmiProperties?: string } }>(
    `${api.ncmpInventoryBasePath}/v1/ch`,
    {
      schema: {
        tags: ['ncmp inventory'],
        summary: 'The cm handle that a distinguished name belongs to',
        querystring: {
          type: 'object',
          properties: {
            distinguishedName: {
              type: 'string',
              description: 'Required. Alternate id, a name below it, or cm handle id',
            },
            outputDmiProperties: schemas.outputDmiProperties,
          },
        },
        headers: schemas.demandHeaders,
        response: { 200: schemas.restOutputCmHandleSchema, ...schemas.ncmpErrors },
      },
    },
    async (request, reply) => {
      const { distinguishedName, outputDmiProperties } = request.query
      if (distinguishedName === undefined || distinguishedName === '') {
        throw new ApiError('PARAMETER_INVALID', 'distinguishedName is required')
      }
      const found = await findByLongestAlternateId(api, distinguishedName, demandOf(api, request, reply))
      tellProvenance(reply, [found.provenance])
      return restOutputCmHandle(found.handle, outputDmiProperties === 'true')
    },
  )
}
