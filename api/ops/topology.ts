import type { FastifyInstance } from 'fastify'
import { describeJson, describeMermaid, describeText } from '../../topology/describe.js'
import type { Api } from '../api.js'
import { ownErrors } from './schemas.js'

const formats = ['text', 'json', 'mermaid'] as const
type Format = (typeof formats)[number]

/** GET /ops/topology: Kafka Streams' text, JSON or Mermaid, by ?format= or the Accept header. */
export function registerTopology(app: FastifyInstance, api: Api): void {
  app.get<{ Querystring: { format?: Format } }>(
    '/ops/topology',
    {
      schema: {
        tags: ['operations'],
        summary: 'What runs: sources, processors, stores and sinks',
        querystring: {
          type: 'object',
          properties: { format: { type: 'string', enum: formats, description: 'Default: by Accept, else text' } },
        },
        response: { 200: { description: 'The topology', type: 'string' }, ...ownErrors },
      },
    },
    (request, reply) => {
      const { applicationId } = api
      const { processors } = api.streams
      switch (request.query.format ?? formatOf(request.headers.accept)) {
        case 'json':
          return reply.type('application/json; charset=utf-8').send(describeJson(processors, applicationId))
        case 'mermaid':
          return reply.type('text/vnd.mermaid; charset=utf-8').send(describeMermaid(processors, applicationId))
        case 'text':
          return reply.type('text/plain; charset=utf-8').send(describeText(processors, applicationId))
      }
    },
  )
}

function formatOf(accept = ''): Format {
  if (/\bapplication\/json\b/.test(accept)) return 'json'
  return /\bmermaid\b/.test(accept) ? 'mermaid' : 'text'
}
