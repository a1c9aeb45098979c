import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { demandOf, tellProvenance } from '../positions.js'
import { findByLongestAlternateId } from './find-cm-handle.js'
import type { FoundCmHandle } from './find-cm-handle.js'
import * as schemas from './schemas.js'
import { lightweightCmHandle, restOutputCmHandle, trustEvidence } from './shapes.js'

interface Route {
  Params: { reference: string }
  Querystring: { evidence?: string }
}

/** GET {ncmp}/v1/ch/{ref} and {ncmp}/v2/ch/{ref}. */
export function registerGetCmHandle(app: FastifyInstance, api: Api): void {
  const versions = [
    { version: 'v1', shape: restOutputCmHandle, schema: schemas.restOutputCmHandleSchema },
    { version: 'v2', shape: lightweightCmHandle, schema: schemas.lightweightCmHandleSchema },
  ]
  for (const { version, shape, schema } of versions) {
    app.get<Route>(
      `${api.ncmpBasePath}/${version}/ch/:reference`,
      {
        schema: {
          tags: ['ncmp'],
          summary: 'A cm handle with its trust level',
          description: 'By the longest alternate id that is the reference or a prefix of it by "/", else by id.',
          params: schemas.referenceParams,
          querystring: { type: 'object', properties: { evidence: schemas.evidence } },
          headers: schemas.demandHeaders,
          response: { 200: schema, ...schemas.ncmpErrors },
        },
      },
      async (request, reply) => {
        const found = await findByLongestAlternateId(api, request.params.reference, demandOf(api, request, reply))
        tellProvenance(reply, [found.provenance])
        return { ...shape(found.handle), ...evidenceOf(found, request.query.evidence) }
      },
    )
  }
}

function evidenceOf(found: FoundCmHandle, asked: string | undefined): object {
  return asked === 'true' ? { trustEvidence: trustEvidence(found.evidence) } : {}
}
