import type { FastifyInstance } from 'fastify'

/** What the health address says: kept ready, so that answering reads nothing. */
export type HealthCheck = () => { readonly isUp: boolean; readonly reasons: readonly string[] }

const body = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['UP', 'DOWN'] },
    reasons: { type: 'array', items: { type: 'string' } },
  },
}

/** GET /notification/healthCheck, for DNS health checks: exactly 200 or 500. (two sites, sections 0 and 2) */
export function registerHealthCheck(app: FastifyInstance, healthCheck: HealthCheck): void {
  app.get(
    '/notification/healthCheck',
    {
      config: { servedWhileStopping: true },
      schema: {
        tags: ['sites'],
        summary: 'Whether this site is to get traffic',
        response: { 200: { description: 'It is', ...body }, 500: { description: 'It is not', ...body } },
      },
    },
    (_request, reply) => {
      const { isUp, reasons } = healthCheck()
      return reply.status(isUp ? 200 : 500).send({ status: isUp ? 'UP' : 'DOWN', reasons: isUp ? [] : reasons })
    },
  )
}
