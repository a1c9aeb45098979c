import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { e2tCommands, keepAliveRequests } from '../../processors/keep-alive/outputs.js'
import type { LogRecord } from '../../topology/log/log.js'
import type { Api } from '../api.js'
import { clientGone } from '../client-gone.js'
import { ApiError, retryAfter } from '../errors.js'
import { watchEnds } from '../ops/ends-watch.js'
import type { EndsWatch } from '../ops/ends-watch.js'
import { ownErrors } from '../ops/schemas.js'
import { startOffsets } from '../ops/start-offsets.js'
import { tail } from '../ops/tail.js'
import type { TailedRecord } from '../ops/tail.js'

const MAX_CLIENTS = 2000
const HEARTBEAT_MS = 15_000

/** Output topics as server-sent events, for E2 terminations without Kafka. (keep-alive, section 9) */
export function registerFeeds(app: FastifyInstance, api: Api): void {
  const follow = follower(api)
  app.get<{ Querystring: { ric?: string; e2t?: string } }>(
    '/e2t/keep-alive-requests',
    { exposeHeadRoute: false, schema: schema('Keep-alive requests of a RIC', filters) },
    (request, reply) => follow(request, reply, keepAliveRequests.topic, isFor(request.query)),
  )
  app.get<{ Querystring: { ric?: string; e2t?: string } }>(
    '/e2t/commands',
    { exposeHeadRoute: false, schema: schema('Commands to an E2 termination', filters) },
    (request, reply) => follow(request, reply, e2tCommands.topic, isFor(request.query)),
  )
}

type Wanted = (record: LogRecord) => boolean

const filters = {
  ric: { type: 'string', description: 'Absent: all RICs' },
  e2t: { type: 'string', description: 'Address: its own records, and those for all; absent: everything' },
}

const schema = (summary: string, properties: object): object => ({
  tags: ['e2'],
  summary: `${summary}, as server-sent events`,
  description:
    'Data: {"headers":{…},"value":"…"}, the record with its headers. The id is the next offset of each partition, by comma: ' +
    'the feed goes on from Last-Event-ID, else from now.',
  querystring: { type: 'object', properties },
  response: { 200: { description: 'text/event-stream', type: 'string' }, ...ownErrors },
})

function isFor({ ric, e2t }: { readonly ric?: string; readonly e2t?: string }): Wanted {
  return ({ key, headers }) => {
    if (ric !== undefined && key?.toString() !== ric) return false
    const receiver = headers.find(([name]) => name === 'ce_e2t')?.[1].toString()
    return e2t === undefined || receiver === undefined || receiver === e2t
  }
}

type Follow = (request: FastifyRequest, reply: FastifyReply, topic: string, isWanted: Wanted) => Promise<FastifyReply>

function follower(api: Api): Follow {
  const watches = new Map<string, EndsWatch>()
  let clients = 0
  return async (request, reply, topic, isWanted) => {
    const lastEventId = request.headers['last-event-id']
    const id = Array.isArray(lastEventId) ? lastEventId.join(',') : lastEventId
    const { from, ends: initial } = await startOffsets(api, topic, id, 'latest')
    if (clients >= MAX_CLIENTS) {
      throw new ApiError('OVERLOADED', `${MAX_CLIENTS} clients follow already`, { headers: retryAfter(10_000) })
    }
    clients++
    const { log } = api.streams
    const ends = watches.get(topic) ?? watchEnds(log, api.clock, topic, initial)
    watches.set(topic, ends)
    const signal = AbortSignal.any([clientGone(reply), api.stopping])
    const tailed = tail({ log, ends, topic, from, idleMs: HEARTBEAT_MS, signal })
    const stream = Readable.from(eventTexts(tailed, isWanted), { objectMode: false, highWaterMark: 64 * 1024 })
    stream.once('close', () => clients--)
    return reply.header('cache-control', 'no-store').type('text/event-stream; charset=utf-8').send(stream)
  }
}

async function* eventTexts(tailed: AsyncIterable<TailedRecord | 'idle'>, isWanted: Wanted): AsyncGenerator<string> {
  yield ': connected\n\n'
  for await (const item of tailed) {
    if (item === 'idle') yield ': idle\n\n'
    else if (isWanted(item.record))
      yield `id: ${item.next.join(',')}\ndata: ${JSON.stringify(readable(item.record))}\n\n`
  }
}

function readable({ headers, value }: LogRecord): unknown {
  return {
    headers: Object.fromEntries(headers.map(([name, bytes]) => [name, bytes.toString()])),
    value: value?.toString() ?? null,
  }
}
