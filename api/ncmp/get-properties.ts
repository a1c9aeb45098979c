import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { demandOf, tellProvenance } from '../positions.js'
import { findByReference } from './find-cm-handle.js'
import * as schemas from './schemas.js'
import { publicProperties } from './shapes.js'

/** GET {ncmp}/v1/ch/{ref}/properties. */
export function registerGetProperties(app: FastifyInstance, api: Api): void {
  app.get<{ Params: { reference: string } }>(
    `${api.ncmpBasePath}/v1/ch/:reference/properties`,
    {
      schema: {
        tags: ['ncmp'],
        summary: 'Public properties of a cm handle, by its id or alternate id',
        params: schemas.referenceParams,
        headers: schemas.demandHeaders,
        response: {
          200: {
            description: 'An array of exactly one object',
            type: 'object',
            properties: {
              publicCmHandleProperties: schemas.restOutputCmHandleSchema.properties.publicCmHandleProperties,
            },
          },
          ...schemas.ncmpErrors,
        },
      },
    },
    async (request, reply) => {
      const found = await findByReference(api, request.params.reference, demandOf(api, request, reply))
      tellProvenance(reply, [found.provenance])
      return publicProperties(found.handle)
    },
  )
}
