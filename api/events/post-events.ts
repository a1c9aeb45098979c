import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { recordsOf } from '../../schemas/cloudevents/http.js'
import type { EventRecord } from '../../schemas/cloudevents/cloud-event.js'
import type { Position } from '../../topology/streams.js'
import type { Api } from '../api.js'
import { ApiError, inShort } from '../errors.js'
import type { ApiErrorCode, Fault } from '../errors.js'
import { ownErrors, positionSchema } from '../ops/schemas.js'
import { tellPositions } from '../positions.js'
import { bytesInFlight } from './bytes-in-flight.js'
import { decodeEvents } from './decode-events.js'
import type { DecodedEvent } from './decode-events.js'
import { routeByType, routeOfTopic } from './route.js'

interface Route {
  Querystring: { topic?: string }
  Body: Readable | undefined
}

const MAX_BODY_BYTES = 32 * 1024 * 1024
const MAX_BYTES_IN_FLIGHT = 2 * MAX_BODY_BYTES
/** Events appended between two turns of the event loop. */
const PORTION = 2000

/**
 * POST /events: CloudEvents in binary, structured and batch mode. 202 when all stand durably in the journal; nothing is
 * taken of a batch with a fault. (trust levels, section 10)
 */
export async function registerEvents(app: FastifyInstance, api: Api): Promise<void> {
  const inFlight = bytesInFlight({ maxBodyBytes: MAX_BODY_BYTES, maxBytes: MAX_BYTES_IN_FLIGHT })
  const byType = routeByType(api.streams.processors)
  await app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload))
    scope.post<Route>('/events', { schema }, async (request, reply) => {
      const { topic } = request.query
      const router = topic === undefined ? byType : routeOfTopic(api.streams.processors, topic)
      const positions = await inFlight.receive(request.body, async (body) => {
        const records = recordsOrRefusal(request.raw.rawHeaders, body)
        const { events, faults } = await decodeEvents(records, router)
        if (faults.length > 0) throw rejection(faults)
        return ingestAll(api, events)
      })
      tellPositions(reply, positions)
      return reply.status(202).send({ accepted: positions.length, positions })
    })
    done()
  })
}

function recordsOrRefusal(rawHeaders: readonly string[], body: Buffer): readonly EventRecord[] {
  const records = recordsOf({ rawHeaders, body })
  if (records.ok) return records.value
  throw rejection(records.faults.map(({ code, field = '', message }) => ({ index: 0, code, field, message })))
}

/** Faults whose kind has a refusal of its own, when all are of that kind. */
const refusals: Readonly<Record<string, ApiErrorCode>> = {
  UNKNOWN_EVENT_TYPE: 'UNKNOWN_EVENT_TYPE',
  TOO_MANY_EVENTS: 'BODY_TOO_LARGE',
  INPUT_TOO_LARGE: 'BODY_TOO_LARGE',
  NO_SCHEMA_REGISTRY: 'MEDIA_TYPE_UNSUPPORTED',
  UNSUPPORTED_EVENT_FORMAT: 'MEDIA_TYPE_UNSUPPORTED',
}

function rejection(faults: readonly Fault[]): ApiError {
  const kinds = new Set(faults.map((fault) => refusals[fault.code] ?? 'EVENTS_REJECTED'))
  const [kind = 'EVENTS_REJECTED', ...others] = kinds
  const message = `nothing was taken: ${inShort(faults)}`
  return new ApiError(others.length === 0 ? kind : 'EVENTS_REJECTED', message, { faults })
}

/** In portions, so that the event loop is not held; those of one domain stand in the journal in the order of the request. */
async function ingestAll(api: Api, events: readonly DecodedEvent[]): Promise<readonly Position[]> {
  const appended: Promise<readonly Position[]>[] = []
  for (let start = 0; start < events.length; start += PORTION) {
    if (start > 0) await setImmediate()
    const portion = ingestPortion(api, events.slice(start, start + PORTION))
    // Its refusal is told below, but may come while later ones have not begun; unheard it would end the process.
    portion.catch(() => undefined)
    appended.push(portion)
  }
  return (await Promise.all(appended)).flat()
}

async function ingestPortion(api: Api, events: readonly DecodedEvent[]): Promise<readonly Position[]> {
  const positions: Position[] = []
  await Promise.all(
    [...placesByDomain(events)].map(async ([domain, places]) => {
      const ofDomain = places.flatMap((place) => events[place]?.event ?? [])
      const ingested = await api.streams.ingest(domain, ofDomain)
      for (const [i, { topic, partition, offset }] of ingested.entries()) {
        positions[places[i] ?? 0] = { topic, partition, offset }
      }
    }),
  )
  return positions
}

function placesByDomain(events: readonly DecodedEvent[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>()
  for (const [place, { domain }] of events.entries()) {
    const known = places.get(domain)
    if (known === undefined) places.set(domain, [place])
    else known.push(place)
  }
  return places
}

const event = { type: 'object', additionalProperties: true }
const schema = {
  tags: ['events'],
  summary: 'Takes CloudEvents: heartbeats and trust changes of devices',
  description:
    'Binary mode by ce- headers, structured mode as application/cloudevents+json, a batch of up to 60,000 as ' +
    'application/cloudevents-batch+json. The type finds the domain.',
  querystring: {
    type: 'object',
    properties: { topic: { type: 'string', description: 'An input topic, which then decides as on Kafka' } },
  },
  body: {
    content: {
      'application/cloudevents+json': { schema: event },
      'application/cloudevents-batch+json': { schema: { type: 'array', items: event } },
      'application/json': { schema: event },
    },
  },
  response: {
    202: {
      description: 'All events are durable; `positions` in their order',
      type: 'object',
      properties: { accepted: { type: 'integer' }, positions: { type: 'array', items: positionSchema } },
    },
    ...ownErrors,
  },
}
