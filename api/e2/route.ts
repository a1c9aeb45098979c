import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { keepAliveQueries } from '../../processors/keep-alive/index.js'
import type {
  KeepAliveEvent,
  NodebAnswer,
  RanHealthAnswer,
  RedButtonAnswer,
  RicParametersAnswer,
} from '../../schemas/keep-alive/journal-events.js'
import type { Query } from '../../topology/processor.js'
import type { Demand, Position, QueryResult } from '../../topology/streams.js'
import { actOf } from '../acts.js'
import type { Api } from '../api.js'
import { demandOf, tellPositions, tellProvenance } from '../positions.js'
import { E2Error } from './errors.js'

export const KEEP_ALIVE = 'keep-alive'

/** Where the E2 Manager's paths begin: for the RIC of the settings, and for any. */
export const bases = ['/v1', '/ric/:ricId/v1'] as const

/** One request: whom it is about, how it asks and answers. */
export interface E2Request {
  readonly api: Api
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly ric: string
}

type Method = 'get' | 'post' | 'put' | 'delete'

/** Declares a route under both bases. `handle` answers JSON with status 200, or sends by itself and answers undefined. */
export function route(
  app: FastifyInstance,
  api: Api,
  method: Method,
  path: string,
  summary: string,
  handle: (request: E2Request) => Promise<unknown>,
): void {
  for (const base of bases) {
    app[method](`${base}${path}`, { schema: { tags: ['e2'], summary } }, async (request, reply) => {
      const { ricId } = request.params as { readonly ricId?: string }
      const answer = await handle({ api, request, reply, ric: ricId ?? api.ricId })
      return answer === undefined ? reply : sendJson(reply, answer)
    })
  }
}

/** As bytes: of a text the framework would tell the character set, which these clients do not expect. */
export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(value)))
}

/** The RAN that the path names. */
export function ranNameOf({ request }: E2Request): string {
  return (request.params as { readonly ranName: string }).ranName
}

/** Asks the owner of the RIC. Errors: E2_STORE, E2_STORE_MOVING. */
export async function ask<Arguments, Result>(
  request: E2Request,
  query: Query<Arguments, Result>,
  args: Arguments,
  demand: Demand = demandOf(request.api, request.request, request.reply),
): Promise<Result> {
  const answer = await asked(request, query, args, demand)
  if (!answer.ok) throw unanswered(answer)
  tellProvenance(request.reply, [answer])
  return answer.result
}

const TIMEOUT_MS = 10_000

/** Commands, and what their folds answer. */
interface Answers {
  readonly RedButtonPressed: RedButtonAnswer
  readonly RicParametersSet: RicParametersAnswer
  readonly RanHealthAsked: RanHealthAnswer
  readonly EnbAdded: NodebAnswer
  readonly NodebUpdated: NodebAnswer
  readonly EnbDeleted: NodebAnswer
}

/**
 * Gives the RIC's owner a command; answers what its fold said. A store that cannot be read refuses it unheard, as upstream's
 * does. Errors: E2_STORE, E2_STORE_MOVING, and the one given where the outcome is open.
 */
export async function command<Type extends keyof Answers>(
  request: E2Request,
  event: Extract<KeepAliveEvent, { type: Type }>,
  whenOpen: 'E2_OUTCOME_OPEN' | 'E2_MESSAGE_NOT_SENT' = 'E2_OUTCOME_OPEN',
): Promise<{ readonly answer: Answers[Type]; readonly position: Position }> {
  const { api, request: http, reply, ric } = request
  const store = await asked(request, keepAliveQueries.health, { ric }, {})
  if (!store.ok && store.reason === 'storeFailed') throw unanswered(store)
  const options = { ...actOf(api, http), timeoutMs: TIMEOUT_MS }
  const result = await api.streams.command<Answers[Type]>(KEEP_ALIVE, { key: ric }, event, options)
  if (result.ok) {
    tellPositions(reply, [result.position])
    return result
  }
  const { reason, message, retryAfterMs } = result
  const cause = new Error(message)
  switch (reason) {
    case 'unavailable':
      throw new E2Error('E2_STORE_MOVING', { cause, retryAfterMs })
    case 'outcomeOpen':
      throw new E2Error(whenOpen, { cause, retryAfterMs })
    case 'failed':
      throw new E2Error('E2_STORE', { cause })
  }
}

/** What is chosen and refused by must not be old: of the owner only. */
function asked<Arguments, Result>(
  { api, ric }: E2Request,
  query: Query<Arguments, Result>,
  args: Arguments,
  demand: Demand,
): Promise<QueryResult<Result>> {
  return api.streams.query(KEEP_ALIVE, query, ric, args, { ...demand, role: 'active' })
}

function unanswered({ reason, message, retryAfterMs }: Extract<QueryResult<unknown>, { ok: false }>): E2Error {
  const cause = new Error(message)
  return reason === 'storeFailed'
    ? new E2Error('E2_STORE', { cause })
    : new E2Error('E2_STORE_MOVING', { cause, retryAfterMs })
}

/** Upstream compares the header as a whole. Errors: E2_HEADER_VALIDATION. */
export function checkContentType({ request }: E2Request): void {
  if (request.headers['content-type'] !== 'application/json') throw new E2Error('E2_HEADER_VALIDATION')
}
