import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'

/** GET /metrics, in Prometheus' text format. */
export function registerMetrics(app: FastifyInstance, api: Api): void {
  app.get(
    '/metrics',
    {
      schema: {
        tags: ['operations'],
        summary: 'Metrics for Prometheus',
        response: { 200: { description: 'Text exposition format', type: 'string' } },
      },
    },
    async (_request, reply) => reply.type(api.metrics.contentType).send(await api.metrics.metrics()),
  )
}
