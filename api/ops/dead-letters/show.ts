import type { FastifyInstance } from 'fastify'
import type { Api } from '../../api.js'
import { readableRecord } from '../record-json.js'
import { ownErrors } from '../schemas.js'
import { findDeadLetter, placeParams } from './find.js'
import type { PlaceParams } from './find.js'
import { letterJson, letterProperties } from './list.js'

/** GET /ops/dead-letters/{partition}/{offset}: one of them, with its original for reading. */
export function registerDeadLetter(app: FastifyInstance, api: Api): void {
  app.get<{ Params: PlaceParams }>(
    '/ops/dead-letters/:partition/:offset',
    {
      schema: {
        tags: ['operations'],
        summary: 'One record that could not be taken, with its original',
        params: placeParams,
        response: {
          200: {
            description: 'The dead letter; bytes that are no text are base64',
            type: 'object',
            properties: { ...letterProperties, original: { type: 'object', additionalProperties: true } },
          },
          ...ownErrors,
        },
      },
    },
    async (request, reply) => {
      const { record, letter } = await findDeadLetter(api, request.params)
      const original = { ...record, headers: letter.headers }
      const text = readableRecord(letter.partition, { ...original, offset: letter.offset }, (read) =>
        api.decodeRecord(letter.topic, read),
      )
      void reply.type('application/json; charset=utf-8')
      const told = JSON.stringify(letterJson(request.params.partition, record, letter))
      return `${told.slice(0, -1)},"original":${text}}`
    },
  )
}
