import type { FastifyInstance } from 'fastify'
import { otherSite, roleOf } from '../../processors/site/index.js'
import { forwarder, refusal } from './forward.js'
import { HOP_HEADER, hasHopped, INSTANCE_HOP_HEADER, isFromInstance } from './hop.js'
import type { SiteControl } from './site-control.js'

/** Paths that each instance answers for itself. */
const ownPaths = ['/notification', '/ops', '/actuator', '/metrics', '/openapi.json', '/audit', '/internal']
/** Read from the log, so any instance can. */
const historyPaths = ['/site/history', '/site/digests']
const DRILL = '/site/drill'
const DRILL_MS = 3_600_000

/**
 * What is asked of a site that is not active: reading is refused with the active site's name; what changes something is passed
 * on to the active site once, byte for byte. Of several instances the one that leads answers for the site, and for what the
 * others cannot answer yet. (two sites, decisions 32 and 37)
 */
export function registerInactiveSite(app: FastifyInstance, site: SiteControl): void {
  const forward = forwarder(app)
  app.addHook('onRequest', async (request, reply) => {
    const path = /^[^?]*/.exec(request.url)?.[0] ?? ''
    if (isBelow(path, ownPaths) || historyPaths.includes(path)) return
    const { role, record, leaderUrl, isServing } = site
    const isOfSite = isBelow(path, ['/site'])
    // Its site is at work, and this instance not yet, or cut off.
    const isIdle = roleOf(site.site, record).takesTraffic && !(role.takesTraffic && isServing)
    if (leaderUrl !== undefined && (isOfSite || isIdle) && !isFromInstance(request)) {
      const failure = `the instance that leads the ${site.site} site does not answer this one`
      const limit = path === DRILL ? { limitMs: DRILL_MS } : {}
      const forwarded = forward(request, reply, { url: leaderUrl, hop: INSTANCE_HOP_HEADER, failure, ...limit })
      // How it stands this instance knows as well, as the log tells it.
      return path === '/site' ? forwarded.catch(() => undefined) : forwarded
    }
    if (isOfSite || role.consumes) return
    void reply.header('x-pulsefold-active-site', record.active)
    // It has taken over, or is about to: nobody else can answer, and what it cannot yet its streams refuse.
    if (role.takesTraffic) return
    if (isIdle) throw refusal('this instance does not act yet')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead || hasHopped(request)) throw refusal(`the ${record.active} site is active, not this one`)
    const failure = `the ${otherSite(site.site)} site is active, but does not answer this one`
    await forward(request, reply, { url: site.peerUrl, hop: HOP_HEADER, failure })
  })
}

function isBelow(path: string, fronts: readonly string[]): boolean {
  return fronts.some((front) => path === front || path.startsWith(`${front}/`))
}
