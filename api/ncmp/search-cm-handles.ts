import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { parseConditions } from './query-conditions.js'
import * as schemas from './schemas.js'
import { answerViews } from './search.js'
import type { PagingQuery } from './search.js'
import { lightweightCmHandle, restOutputCmHandle } from './shapes.js'

interface SearchQuery extends PagingQuery {
  readonly outputDmiProperties?: string
}

/** The object searches: POST {ncmp}/v1|v2/ch/searches, {ncmpInventory}/v1/ch/searchCmHandles and /v2/ch/searches. */
export function registerSearchCmHandles(app: FastifyInstance, api: Api): void {
  const full = { shape: restOutputCmHandle, items: schemas.restOutputCmHandleSchema }
  const lightweight = { shape: lightweightCmHandle, items: schemas.lightweightCmHandleSchema }
  const routes = [
    { url: `${api.ncmpBasePath}/v1/ch/searches`, side: 'north', ...full },
    { url: `${api.ncmpBasePath}/v2/ch/searches`, side: 'north', ...lightweight },
    { url: `${api.ncmpInventoryBasePath}/v1/ch/searchCmHandles`, side: 'south', ...full },
    { url: `${api.ncmpInventoryBasePath}/v2/ch/searches`, side: 'south', ...lightweight },
  ] as const
  for (const { url, side, shape, items } of routes) {
    const properties = side === 'south' ? { outputDmiProperties: schemas.outputDmiProperties } : {}
    app.post<{ Querystring: SearchQuery }>(
      url,
      {
        schema: {
          tags: [side === 'north' ? 'ncmp' : 'ncmp inventory'],
          summary: 'The cm handles that meet all conditions, with their trust levels',
          querystring: { type: 'object', properties: { ...properties, ...schemas.pagingParameters } },
          headers: schemas.demandHeaders,
          body: schemas.queryBody,
          response: { 200: { description: 'The hits', type: 'array', items }, ...schemas.ncmpErrors },
        },
      },
      (request, reply) => {
        const { pluginAddressPolicy } = api
        const conditions = parseConditions(request.body, { side, deprecatedConditions: true, pluginAddressPolicy })
        const withProperties = side === 'south' && request.query.outputDmiProperties === 'true'
        return answerViews(api, request, reply, conditions, (view) => shape(view, withProperties))
      },
    )
  }
}
