import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import type { Readiness } from '../../topology/streams.js'

const readinessSchema = {
  type: 'object',
  properties: {
    ready: { type: 'boolean' },
    reasons: { type: 'array', items: { type: 'string' } },
    restoring: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          domain: { type: 'string' },
          partition: { type: 'integer' },
          role: { type: 'string', enum: ['active', 'standby'] },
          phase: { type: 'string', enum: ['changelog', 'journal'] },
          doneRecords: { type: 'integer' },
          totalRecords: { type: 'integer' },
          recordsPerSecond: { type: 'integer', nullable: true },
          remainingMs: { type: 'integer', nullable: true },
        },
      },
    },
  },
}
const statusSchema = { type: 'object', properties: { status: { type: 'string', enum: ['UP', 'OUT_OF_SERVICE'] } } }
const served = { servedWhileStopping: true } as const

/** /ops/health/live and /ready, and the actuator paths that upstream's clients ask. They answer while stopping, too. */
export function registerHealth(app: FastifyInstance, api: Api): void {
  const readiness = (): Readiness => (api.stopping.aborted ? stoppingReadiness : api.streams.readiness())

  app.get(
    '/ops/health/live',
    {
      config: served,
      schema: {
        tags: ['operations'],
        summary: 'Whether the process answers',
        response: { 200: { description: 'It does', type: 'object', properties: { live: { type: 'boolean' } } } },
      },
    },
    () => ({ live: true }),
  )
  app.get(
    '/ops/health/ready',
    {
      config: served,
      schema: {
        tags: ['operations'],
        summary: 'Whether all state is there and inputs are read; the reasons in words where not',
        response: {
          200: { description: 'Ready', ...readinessSchema },
          503: { description: 'Not ready', ...readinessSchema },
        },
      },
    },
    (_request, reply) => {
      const { ready, reasons, restoring } = readiness()
      return reply.status(ready ? 200 : 503).send({ ready, reasons, restoring })
    },
  )

  /** Spring Boot's health document; the main one and the readiness group follow readiness. */
  const actuator = (path: string, summary: string, isUp: () => boolean, groups: object): void => {
    app.get(
      path,
      {
        config: served,
        schema: {
          tags: ['actuator'],
          summary,
          response: {
            200: { description: 'Up', ...statusSchema },
            503: { description: 'Out of service', ...statusSchema },
          },
        },
      },
      (_request, reply) => {
        const up = isUp()
        return reply.status(up ? 200 : 503).send({ status: up ? 'UP' : 'OUT_OF_SERVICE', ...groups })
      },
    )
  }
  const isReady = (): boolean => readiness().ready
  actuator('/actuator/health', 'Health as Spring Boot tells it', isReady, { groups: ['liveness', 'readiness'] })
  actuator('/actuator/health/readiness', 'Readiness as Spring Boot tells it', isReady, {})
  actuator('/actuator/health/liveness', 'Liveness as Spring Boot tells it', () => true, {})
}

const stoppingReadiness: Readiness = { ready: false, reasons: ['the service is stopping'], restoring: [] }
