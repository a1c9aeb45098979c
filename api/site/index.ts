import type { FastifyInstance } from 'fastify'
import { registerSiteActs } from './acts.js'
import { registerDrill } from './drill.js'
import { registerGetSite } from './get-site.js'
import { registerPeerRoutes } from './peer-routes.js'
import type { SiteControl } from './site-control.js'

/** The routes of one of two sites. */
export async function registerSite(app: FastifyInstance, site: SiteControl): Promise<void> {
  registerSiteActs(app, site)
  registerGetSite(app, site)
  registerDrill(app, site)
  await registerPeerRoutes(app, site)
}
