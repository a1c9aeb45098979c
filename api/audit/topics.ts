import type { FastifyInstance } from 'fastify'
import { cut } from '../../common/errors.js'
import type { Api } from '../api.js'
import { ApiError } from '../errors.js'
import { ownErrors } from '../ops/schemas.js'

interface Route {
  Params: { topic: string; partition: number }
  Querystring: { time?: number }
}

/** GET /audit/topics/{topic}, and of a partition: what an audit from afar must know to read journals and seals. */
export function registerAuditTopics(app: FastifyInstance, { streams }: Api): void {
  app.get<Route>(
    '/audit/topics/:topic',
    {
      schema: {
        tags: ['audit'],
        summary: 'A topic: partitions and incarnation; null where there is none',
        params: { type: 'object', properties: { topic: { type: 'string' } } },
        response: {
          200: {
            description: 'The topic',
            type: 'object',
            properties: { topic: { type: ['object', 'null'], additionalProperties: true } },
          },
          ...ownErrors,
        },
      },
    },
    async ({ params }) => ({ topic: (await streams.log.topic(params.topic)) ?? null }),
  )

  app.get<Route>(
    '/audit/topics/:topic/:partition',
    {
      schema: {
        tags: ['audit'],
        summary: 'Offsets of a partition: start and end, or the first one at or after a time',
        params: {
          type: 'object',
          properties: { topic: { type: 'string' }, partition: { type: 'integer', minimum: 0 } },
        },
        querystring: {
          type: 'object',
          properties: { time: { type: 'integer', minimum: 0, description: 'ms since 1970' } },
        },
        response: {
          200: {
            description: '`start` and `end` (exclusive); with `time`: `offset`',
            type: 'object',
            properties: { start: { type: 'integer' }, end: { type: 'integer' }, offset: { type: 'integer' } },
          },
          ...ownErrors,
        },
      },
    },
    async ({ params: { topic, partition }, query: { time } }) => {
      const described = await streams.log.topic(topic)
      if (described === undefined || partition >= described.partitions) {
        throw new ApiError('TOPIC_NOT_FOUND', `there is no partition ${partition} of topic ${cut(topic)}`)
      }
      const at = { topic, partition }
      return time === undefined ? streams.log.offsets(at) : { offset: await streams.log.offsetForTime(at, time) }
    },
  )
}
