import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isSiteRecord } from '../../processors/site/index.js'
import { ApiError } from '../errors.js'
import { historyToJson } from './history-json.js'
import type { SiteControl } from './site-control.js'
import type { HistoryWanted } from '../../topology/preload/mirror.js'
import { clientGone } from '../client-gone.js'

/** What waits for something new is answered after this time. */
const HISTORY_WAIT_MS = 300
const MAX_WANTED_BYTES = 4 * 1024 * 1024

/** What the two sites ask each other: records of the register, journals, digests. Not for clients, and in no description. */
export async function registerPeerRoutes(app: FastifyInstance, site: SiteControl): Promise<void> {
  await app.register((routes, _options, done) => {
    routes.addHook('onRequest', (request, _reply, next) => {
      checkPeer(request, site.token)
      next()
    })
    routes.put('/site/record', { schema: { hide: true } }, async (request, reply) => {
      if (!isSiteRecord(request.body))
        throw new ApiError('BODY_INVALID', 'the body must be a record of the site register')
      const view = await site.exchange(request.body)
      return reply.status(view.accepted ? 200 : 409).send(view)
    })
    routes.post('/site/history', { schema: { hide: true }, bodyLimit: MAX_WANTED_BYTES }, async (request, reply) => {
      const wanted = wantedOf(request.body)
      const parts = await site.history(wanted, HISTORY_WAIT_MS, clientGone(reply))
      return { parts: parts.map(historyToJson) }
    })
    routes.get('/site/digests', { schema: { hide: true } }, () => site.digests())
    done()
  })
}

function checkPeer(request: FastifyRequest, token: string): void {
  if (token === '') return
  const [, shown = ''] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? []
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  if (timingSafeEqual(digest(shown), digest(token))) return
  throw new ApiError('SITE_UNKNOWN', 'only the other site is answered here')
}

function wantedOf(body: unknown): readonly HistoryWanted[] {
  const { wanted } = (body ?? {}) as { readonly wanted?: unknown }
  if (!Array.isArray(wanted) || !wanted.every(isWanted)) {
    throw new ApiError('BODY_INVALID', 'wanted must be a list of topic, partition and offset')
  }
  return wanted
}

function isWanted(value: unknown): value is HistoryWanted {
  const { topic, partition, offset } = (value ?? {}) as Partial<Record<keyof HistoryWanted, unknown>>
  return typeof topic === 'string' && isIndex(partition) && isIndex(offset)
}

const isIndex = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0
