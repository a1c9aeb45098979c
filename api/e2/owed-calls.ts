import type { FastifyInstance } from 'fastify'
import { keepAliveQueries } from '../../processors/keep-alive/index.js'
import type { Api } from '../api.js'
import { isoTime } from '../ncmp/shapes.js'
import { ownErrors } from '../ops/schemas.js'
import { answered, demandOf, tellProvenance } from '../positions.js'
import { KEEP_ALIVE } from './route.js'

const callSchema = {
  type: 'object',
  properties: {
    ric: { type: 'string' },
    e2tAddress: { type: 'string', description: 'Empty: all instances of the RIC' },
    purpose: { type: 'string', enum: ['register', 'associate', 'dissociate', 'delete'] },
    ranNames: { type: 'array', items: { type: 'string' } },
    since: { type: 'string', format: 'date-time' },
  },
}

/** GET /ops/routing-manager: what the Routing Manager has not been told yet, oldest first. (keep-alive, section 0) */
export function registerOwedCalls(app: FastifyInstance, api: Api): void {
  app.get(
    '/ops/routing-manager',
    {
      schema: {
        tags: ['operations'],
        summary: 'Calls that are still owed to the Routing Manager',
        response: { 200: { description: 'The calls', type: 'array', items: callSchema }, ...ownErrors },
      },
    },
    async (request, reply) => {
      const results = await api.streams.queryAll(
        KEEP_ALIVE,
        keepAliveQueries.owedCalls,
        {},
        demandOf(api, request, reply),
      )
      const pages = results.map(answered)
      tellProvenance(reply, pages)
      return pages
        .flatMap((page) => page.result)
        .sort((a, b) => a.since - b.since)
        .map((call) => ({ ...call, since: isoTime(call.since) }))
    },
  )
}
