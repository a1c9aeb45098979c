import type { FastifyInstance } from 'fastify'
import { ApiError } from '../errors.js'
import { ownErrors } from '../ops/schemas.js'
import { clientWaits } from '../client-gone.js'
import { refusalOf } from './refusal.js'
import type { SiteControl } from './site-control.js'

/** POST /site/drill: what a switch to this site would take, without one. Answered when it is done; to leave ends it. */
export function registerDrill(app: FastifyInstance, site: SiteControl): void {
  let isRunning = false
  app.post(
    '/site/drill',
    {
      schema: {
        tags: ['sites'],
        summary: 'Load this site beside what runs, compare with the active site, throw it away',
        response: {
          200: {
            description: 'What it took',
            type: 'object',
            properties: {
              equal: { type: 'boolean' },
              different: { type: 'array', items: { type: 'string' } },
              events: { type: 'integer' },
              ms: { type: 'integer' },
              eventsPerSecond: { type: 'integer' },
              mirrorLagMs: { type: ['integer', 'null'] },
            },
          },
          ...ownErrors,
        },
      },
    },
    async (_request, reply) => {
      const { record, role } = site
      if (role.consumes) throw new ApiError('SITE_CONFLICT', 'this site is active: ask the other one')
      if (record.target !== null) throw new ApiError('SITE_CONFLICT', `a switch is in phase ${record.phase}`)
      if (isRunning) throw new ApiError('SITE_CONFLICT', 'a drill is running')
      isRunning = true
      try {
        const result = await site.drill(clientWaits(reply))
        if (!result.ok) throw refusalOf(result)
        return result.report
      } finally {
        isRunning = false
      }
    },
  )
}
