import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type { LogRecord } from '../../topology/log/log.js'
import { TRUST_LEVEL } from '../trust-level-queries.js'
import type { Api } from '../api.js'
import { clientGone } from '../client-gone.js'
import { ApiError, retryAfter } from '../errors.js'
import { isObject } from '../ncmp/json-values.js'
import { ownErrors } from './schemas.js'
import { watchEnds } from './ends-watch.js'
import type { EndsWatch } from './ends-watch.js'
import { startOffsets } from './start-offsets.js'
import { tail } from './tail.js'
import type { TailedRecord } from './tail.js'

interface Route {
  Querystring: { from?: 'earliest' | 'latest' }
}

const MAX_CLIENTS = 100
const HEARTBEAT_MS = 15_000

/** GET /ops/trust-levels/transitions: effective changes of level as server-sent events. (trust levels, section 10) */
export function registerTransitions(app: FastifyInstance, api: Api): void {
  let clients = 0
  let ends: EndsWatch | undefined
  app.get<Route>(
    '/ops/trust-levels/transitions',
    {
      exposeHeadRoute: false,
      schema: {
        tags: ['operations'],
        summary: 'Feed of effective trust-level changes, as server-sent events',
        description:
          'The id is a position: the next offset of each partition of the notices topic, by comma. Data: ' +
          '{"cmHandle","old"?,"new","at","cause"}. Goes on from Last-Event-ID.',
        querystring: {
          type: 'object',
          properties: { from: { type: 'string', enum: ['earliest', 'latest'], description: 'Default latest' } },
        },
        headers: {
          type: 'object',
          properties: { 'last-event-id': { type: 'string', description: 'Id of the last event taken' } },
        },
        response: { 200: { description: 'text/event-stream', type: 'string' }, ...ownErrors },
      },
    },
    async (request, reply) => {
      const topic = noticesTopic(api)
      const lastEventId = request.headers['last-event-id']
      const { from, ends: initial } = await startOffsets(api, topic, asOne(lastEventId), request.query.from ?? 'latest')
      if (clients >= MAX_CLIENTS) {
        throw new ApiError('OVERLOADED', `${MAX_CLIENTS} clients follow already`, { headers: retryAfter(10_000) })
      }
      clients++
      const signal = AbortSignal.any([clientGone(reply), api.stopping])
      const { log } = api.streams
      ends ??= watchEnds(log, api.clock, topic, initial)
      const tailed = tail({ log, ends, topic, from, idleMs: HEARTBEAT_MS, signal })
      const stream = Readable.from(eventTexts(tailed), { objectMode: false, highWaterMark: 64 * 1024 })
      stream.once('close', () => clients--)
      return reply.header('cache-control', 'no-store').type('text/event-stream; charset=utf-8').send(stream)
    },
  )
}

async function* eventTexts(tailed: AsyncIterable<TailedRecord | 'idle'>): AsyncGenerator<string> {
  yield ': connected\n\n'
  for await (const item of tailed) {
    if (item === 'idle') yield ': idle\n\n'
    else {
      const transition = transitionOf(item.record)
      const id = item.next.join(',')
      if (transition !== undefined) yield `id: ${id}\ndata: ${JSON.stringify(transition)}\n\n`
    }
  }
}

/** Errors: TOPIC_NOT_FOUND when notices are switched off. */
function noticesTopic(api: Api): string {
  const output = api.streams.processors.find((processor) => processor.name === TRUST_LEVEL)?.outputs[0]
  if (output === undefined) throw new ApiError('TOPIC_NOT_FOUND', 'notices of trust levels are switched off')
  return output.topic
}

/** From a notice as it went out; undefined for what is none. */
function transitionOf(record: LogRecord): object | undefined {
  const header = (name: string): string | undefined =>
    record.headers.find(([known]) => known === name)?.[1].toString('utf8')
  const change = attributeChange(record.value)
  if (change === undefined || record.key === null) return undefined
  return {
    cmHandle: record.key.toString('utf8'),
    ...(change.old !== undefined && { old: change.old }),
    new: change.new,
    at: header('ce_time'),
    cause: header('ce_cause'),
  }
}

function attributeChange(value: Buffer | null): { readonly old?: string; readonly new: string } | undefined {
  const body = value === null ? undefined : parsed(value.toString('utf8'))
  const data = isObject(body) ? body['data'] : undefined
  const changes = isObject(data) ? data['attributeValueChange'] : undefined
  const change = Array.isArray(changes) ? (changes[0] as unknown) : undefined
  if (!isObject(change) || change['attributeName'] !== 'trustLevel') return undefined
  const { oldAttributeValue, newAttributeValue } = change
  if (typeof newAttributeValue !== 'string') return undefined
  return { new: newAttributeValue, ...(typeof oldAttributeValue === 'string' && { old: oldAttributeValue }) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function asOne(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value
}
