import type { FastifyInstance } from 'fastify'
import { decodeRecords } from '../../../schemas/cloudevents/http.js'
import type { ReadDeadLetter } from '../../../topology/ingest/read-dead-letter.js'
import type { LogRecord } from '../../../topology/log/log.js'
import { actOf } from '../../acts.js'
import type { Api } from '../../api.js'
import { ApiError } from '../../errors.js'
import { routeByType } from '../../events/route.js'
import type { EventRoute } from '../../events/route.js'
import { actHeaders } from '../../ncmp/schemas.js'
import { ownErrors, positionSchema } from '../schemas.js'
import { findDeadLetter, placeParams } from './find.js'
import type { PlaceParams } from './find.js'

/**
 * POST /ops/dead-letters/{partition}/{offset}/resend: takes the original as if it came now, after what was wrong was mended. It
 * is a new event with an identity of its own, with who sent it again and why.
 */
export function registerResend(app: FastifyInstance, api: Api): void {
  app.post<{ Params: PlaceParams }>(
    '/ops/dead-letters/:partition/:offset/resend',
    {
      schema: {
        tags: ['operations'],
        summary: 'Take a dead letter as a new event',
        headers: actHeaders,
        params: placeParams,
        response: { 200: { description: 'Where it stands in the journal', ...positionSchema }, ...ownErrors },
      },
    },
    async (request) => {
      const { actor, reason } = actOf(api, request)
      const { record, letter } = await findDeadLetter(api, request.params)
      if (letter.shortForm !== undefined) {
        throw new ApiError('DEAD_LETTER_CUT', `of ${letter.shortForm} bytes only the beginning was kept`)
      }
      const { domain, input } = routeOf(api, record, letter)
      const original = { key: record.key, value: record.value, headers: letter.headers }
      const decoded = await input.decode({ ...original, timestamp: record.timestamp })
      if (decoded.kind !== 'event') {
        const why = decoded.kind === 'rejected' ? `${decoded.code}: ${decoded.message}` : decoded.reason
        throw new ApiError('DEAD_LETTER_REFUSED', `it is refused again: ${why}`)
      }
      const act = { ...(actor !== undefined && { actor }), ...(reason !== undefined && { reason }) }
      const event = { key: decoded.key, event: decoded.event, original, ...act }
      const [position] = await api.streams.ingest(domain, [event])
      return position
    },
  )
}

/** Whose input the original is: by its topic, else, as for what came over HTTP, by its CloudEvents type. */
function routeOf({ streams }: Api, record: LogRecord, { topic, headers }: ReadDeadLetter): EventRoute {
  for (const { name: domain, inputs } of streams.processors) {
    const input = inputs.find((candidate) => candidate.topic === topic)
    if (input !== undefined) return { domain, input }
  }
  const [event] = decodeRecords([{ value: record.value, headers, timestamp: null }]).events
  const route = event && routeByType(streams.processors)(event.type)
  if (route === undefined) throw new ApiError('DEAD_LETTER_REFUSED', `nothing reads ${topic}, or events of its type`)
  return route
}
