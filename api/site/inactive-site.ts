import { PassThrough } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Agent, request as send } from 'undici'
import { otherSite } from '../../processors/site/index.js'
import { ApiError, retryAfter } from '../errors.js'
import { HOP_HEADER, hasHopped } from './hop.js'
import type { SiteControl } from './site-control.js'

/** Paths that each site answers for itself. */
const ownPaths = ['/site', '/notification', '/ops', '/actuator', '/metrics', '/openapi.json', '/audit', '/internal']
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

/**
 * What is asked of a site that is not active: reading is refused with the active site's name; what changes something is passed
 * on to the active site once, byte for byte. (two sites, decisions 32 and 37)
 */
export function registerInactiveSite(app: FastifyInstance, site: SiteControl): void {
  const agent = new Agent()
  app.addHook('onClose', () => agent.destroy())
  app.addHook('onRequest', async (request, reply) => {
    const path = /^[^?]*/.exec(request.url)?.[0] ?? ''
    if (ownPaths.some((own) => path === own || path.startsWith(`${own}/`))) return
    const { role, record } = site
    if (role.consumes) return
    void reply.header('x-pulsefold-active-site', record.active)
    // It has taken over, or is about to: nobody else can answer, and what it cannot yet its streams refuse.
    if (role.takesTraffic) return
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead || hasHopped(request)) throw refusal(`the ${record.active} site is active, not this one`)
    await forward(agent, site, request, reply)
  })
}

async function forward(agent: Agent, site: SiteControl, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const headers: Record<string, string | string[]> = { [HOP_HEADER]: '1' }
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined && !hopByHop.includes(name)) headers[name] = value
  }
  // A stream of its own: what fails on the way there must not cut off the caller, who is to be told.
  const body = request.raw.pipe(new PassThrough().on('error', () => undefined))
  // A path that begins with two slashes, or a whole address, would name another host.
  if (!request.url.startsWith('/')) throw refusal('only paths are passed on')
  const answer = await send(new URL(site.peerUrl).origin + request.url, {
    dispatcher: agent,
    method: request.method as 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(FORWARD_MS),
  }).catch((thrown: unknown) => {
    throw refusal(`the ${otherSite(site.site)} site is active, but does not answer this one`, thrown)
  })
  for (const [name, value] of Object.entries(answer.headers)) {
    if (value !== undefined && !hopByHop.includes(name)) void reply.header(name, value)
  }
  await reply.status(answer.statusCode).send(answer.body)
}

function refusal(message: string, cause?: unknown): ApiError {
  return new ApiError('SITE_NOT_ACTIVE', message, { headers: retryAfter(RETRY_MS), cause })
}
