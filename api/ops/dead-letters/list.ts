import type { FastifyInstance } from 'fastify'
import { names } from '../../../topology/names.js'
import { readDeadLetter } from '../../../topology/ingest/read-dead-letter.js'
import type { Api } from '../../api.js'
import { ownErrors } from '../schemas.js'
import { mergeByTimestamp, readBatches } from '../topic-records.js'

interface Route {
  Querystring: { partition?: number; offset?: number; limit: number }
}

export const letterProperties = {
  partition: { type: 'integer', description: 'Of the dead-letter topic' },
  offset: { type: 'integer', description: 'In it' },
  time: { type: 'string', format: 'date-time' },
  source: {
    type: 'object',
    properties: { topic: { type: 'string' }, partition: { type: 'integer' }, offset: { type: 'integer' } },
  },
  code: { type: 'string' },
  message: { type: 'string' },
  isWhole: { type: 'boolean', description: 'Else only the beginning of the original is there' },
}

/** GET /ops/dead-letters: what could not be taken, in the order of time. */
export function registerDeadLetterList(app: FastifyInstance, api: Api): void {
  app.get<Route>(
    '/ops/dead-letters',
    {
      schema: {
        tags: ['operations'],
        summary: 'Records that could not be taken, and why',
        querystring: {
          type: 'object',
          properties: {
            partition: { type: 'integer', minimum: 0, description: 'Absent: all' },
            offset: { type: 'integer', minimum: 0, description: 'Where to begin; absent: at the first one' },
            limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100, description: 'Most of them' },
          },
        },
        response: {
          200: {
            description: '`next` names for each partition the offset to go on from',
            type: 'object',
            properties: {
              deadLetters: { type: 'array', items: { type: 'object', properties: letterProperties } },
              next: { type: 'object', additionalProperties: { type: 'integer' } },
            },
          },
          ...ownErrors,
        },
      },
    },
    async (request) => {
      const topic = names.deadLetters(api.applicationId)
      const { limit } = request.query
      const { merged, next } = mergeByTimestamp(await readBatches(api.streams.log, topic, request.query), limit)
      const deadLetters = merged.flatMap(({ partition, record }) => {
        const letter = readDeadLetter(record)
        return letter === undefined ? [] : [letterJson(partition, record, letter)]
      })
      return { deadLetters, next }
    },
  )
}

/** What is told of each dead letter. */
export function letterJson(
  partition: number,
  { offset, timestamp }: { readonly offset: number; readonly timestamp: number },
  { topic, code, message, shortForm, ...source }: NonNullable<ReturnType<typeof readDeadLetter>>,
): Readonly<Record<string, unknown>> {
  return {
    ...{ partition, offset, time: new Date(timestamp).toISOString() },
    source: { topic, partition: source.partition, offset: source.offset },
    ...{ code, message, isWhole: shortForm === undefined },
  }
}
