import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { actOf } from '../acts.js'
import { ApiError } from '../errors.js'
import { actHeaders } from '../ncmp/schemas.js'
import { ownErrors } from './schemas.js'

const sourceSchema = {
  type: 'object',
  properties: {
    topic: { type: 'string' },
    partition: { type: 'integer' },
    incarnation: { type: 'string', description: 'Part of the source of each event; empty: never read' },
    position: { type: 'integer', description: 'The offset to be read next' },
    stopped: { type: 'string', description: 'Why it is not read; empty: it is' },
  },
}

interface Restart {
  Params: { topic: string; partition: number }
}

/** GET /ops/sources, and POST /ops/sources/{topic}/{partition}/restart for one that has stopped. */
export function registerSources(app: FastifyInstance, api: Api): void {
  app.get(
    '/ops/sources',
    {
      schema: {
        tags: ['operations'],
        summary: 'Partitions of input topics that this instance reads, and why one is not read',
        response: { 200: { description: 'The partitions', type: 'array', items: sourceSchema }, ...ownErrors },
      },
    },
    () => [...api.streams.sources()].sort((a, b) => a.topic.localeCompare(b.topic, 'en') || a.partition - b.partition),
  )
  app.post<Restart>(
    '/ops/sources/:topic/:partition/restart',
    {
      schema: {
        tags: ['operations'],
        summary: 'Read a stopped input from its log start on: all it holds counts as new',
        headers: actHeaders,
        params: {
          type: 'object',
          properties: { topic: { type: 'string' }, partition: { type: 'integer', minimum: 0 } },
        },
        response: {
          200: {
            description: 'Its owner goes on within seconds',
            type: 'object',
            properties: { incarnation: { type: 'string' }, from: { type: 'integer' } },
          },
          ...ownErrors,
        },
      },
    },
    async (request) => {
      const { topic, partition } = request.params
      const { actor, reason } = actOf(api, request)
      const act = { ...(actor !== undefined && { actor }), ...(reason !== undefined && { reason }) }
      const result = await api.streams.restartSource({ topic, partition }, act)
      if (result.ok) return { incarnation: result.incarnation, from: result.from }
      if (result.reason === 'unknown') {
        throw new ApiError('SOURCE_NOT_FOUND', `there is no partition ${partition} of an input topic ${topic}`)
      }
      throw new ApiError('SOURCE_NOT_STOPPED', `partition ${partition} of ${topic} has not stopped`)
    },
  )
}
