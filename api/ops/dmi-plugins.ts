import type { FastifyInstance } from 'fastify'
import { TRUST_LEVEL } from '../trust-level-queries.js'
import type { Api } from '../api.js'
import { isoTime } from '../ncmp/shapes.js'
import { answered, demandOf, tellProvenance } from '../positions.js'
import { ownErrors } from './schemas.js'

const pluginSchema = {
  type: 'object',
  properties: {
    plugin: { type: 'string' },
    trustLevel: { type: 'string', enum: ['NONE', 'COMPLETE'] },
    since: { type: 'string', format: 'date-time' },
    lastCheck: { type: ['string', 'null'], format: 'date-time' },
    healthPath: { type: 'string', description: 'The path that answered last; empty: none' },
    reason: { type: 'string', description: 'What the last check found, in words' },
    cmHandles: { type: 'integer', description: 'Handles whose data plugin it is' },
  },
}

/** GET /ops/dmi-plugins: every known plugin, by address. (trust levels, section 10) */
export function registerDmiPlugins(app: FastifyInstance, api: Api): void {
  app.get(
    '/ops/dmi-plugins',
    {
      schema: {
        tags: ['operations'],
        summary: 'DMI plugins with their health and number of cm handles',
        response: { 200: { description: 'The plugins', type: 'array', items: pluginSchema }, ...ownErrors },
      },
    },
    async (request, reply) => {
      const results = await api.streams.queryAll(TRUST_LEVEL, api.queries.dmiPlugins, {}, demandOf(api, request, reply))
      const pages = results.map(answered)
      tellProvenance(reply, pages)
      const cmHandles = new Map<string, number>()
      for (const page of pages) {
        for (const [plugin, count] of Object.entries(page.result.cmHandles)) {
          cmHandles.set(plugin, (cmHandles.get(plugin) ?? 0) + count)
        }
      }
      return pages
        .flatMap((page) => page.result.plugins)
        .sort((a, b) => (a.plugin < b.plugin ? -1 : 1))
        .map(({ plugin, trustLevel, since, lastCheck, healthPath, reason }) => ({
          plugin,
          trustLevel,
          since: isoTime(since),
          lastCheck: lastCheck === null ? null : isoTime(lastCheck),
          healthPath,
          reason,
          cmHandles: cmHandles.get(plugin) ?? 0,
        }))
    },
  )
}
