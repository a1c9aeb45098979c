import { PassThrough } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Agent, request as send } from 'undici'
import { clientWaits } from '../client-gone.js'
import { ApiError, retryAfter } from '../errors.js'

export interface Forwarding {
  /** Where to. */
  readonly url: string
  /** Says that it was passed on. */
  readonly hop: string
  /** Longest time until the answer begins, ms; default 30 s. */
  readonly limitMs?: number
  /** What is said when nobody answers there. */
  readonly failure: string
}

export type Forward = (request: FastifyRequest, reply: FastifyReply, forwarding: Forwarding) => Promise<void>

const RETRY_MS = 1000
const FORWARD_MS = 30_000
/** Headers of one connection, not of the message. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
]

/** Passes requests on byte for byte, before their bodies are read. Rejects with SITE_NOT_ACTIVE when nobody answers. */
export function forwarder(app: FastifyInstance): Forward {
  const agent = new Agent({ headersTimeout: 0 })
  app.addHook('onClose', () => agent.destroy())
  return async (request, reply, { url, hop, limitMs = FORWARD_MS, failure }) => {
    const headers: Record<string, string | string[]> = { [hop]: '1' }
    for (const [name, value] of Object.entries(request.headers)) {
      if (value !== undefined && !hopByHop.includes(name)) headers[name] = value
    }
    // A stream of its own: what fails on the way there must not cut off the caller, who is to be told.
    const body = request.raw.pipe(new PassThrough().on('error', () => undefined))
    // A path that begins with two slashes, or a whole address, would name another host.
    if (!request.url.startsWith('/')) throw refusal('only paths are passed on')
    const answer = await send(new URL(url).origin + request.url, {
      dispatcher: agent,
      method: request.method as 'POST',
      headers,
      body,
      signal: AbortSignal.any([clientWaits(reply), AbortSignal.timeout(limitMs)]),
    }).catch((thrown: unknown) => {
      throw refusal(failure, thrown)
    })
    for (const [name, value] of Object.entries(answer.headers)) {
      if (value !== undefined && !hopByHop.includes(name)) void reply.header(name, value)
    }
    await reply.status(answer.statusCode).send(answer.body)
  }
}

export function refusal(message: string, cause?: unknown): ApiError {
  return new ApiError('SITE_NOT_ACTIVE', message, { headers: retryAfter(RETRY_MS), cause })
}
