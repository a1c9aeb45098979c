import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { demandOf, tellProvenance } from '../positions.js'
import { findByReference } from './find-cm-handle.js'
import * as schemas from './schemas.js'
import { compositeState } from './shapes.js'

/** GET {ncmp}/v1/ch/{ref}/state. The trust level beside the state is ours. (trust levels, section 1.3) */
export function registerGetState(app: FastifyInstance, api: Api): void {
  app.get<{ Params: { reference: string } }>(
    `${api.ncmpBasePath}/v1/ch/:reference/state`,
    {
      schema: {
        tags: ['ncmp'],
        summary: 'State of a cm handle, by its id or alternate id',
        params: schemas.referenceParams,
        headers: schemas.demandHeaders,
        response: {
          200: {
            description: 'State and trust level',
            type: 'object',
            properties: { state: schemas.compositeStateSchema, trustLevel: schemas.trustLevelSchema },
          },
          ...schemas.ncmpErrors,
        },
      },
    },
    async (request, reply) => {
      const found = await findByReference(api, request.params.reference, demandOf(api, request, reply))
      tellProvenance(reply, [found.provenance])
      return { state: compositeState(found.handle), trustLevel: found.handle.trustLevel }
    },
  )
}
