import type { FastifyInstance } from 'fastify'
import { isoTime } from '../ncmp/shapes.js'
import { ownErrors } from '../ops/schemas.js'
import type { SwitchReport } from '../../processors/site/index.js'
import type { SiteControl, SiteStatus } from './site-control.js'

const time = { type: 'string', format: 'date-time' }

/** GET /site: how the two sites stand, as this one sees it. (two sites, section 7) */
export function registerGetSite(app: FastifyInstance, site: SiteControl): void {
  app.get(
    '/site',
    {
      schema: {
        tags: ['sites'],
        summary: 'Which site is active, and how far a switch is',
        response: {
          200: {
            description: 'As this site sees it',
            type: 'object',
            properties: {
              site: { type: 'string' },
              active: { type: 'string' },
              target: { type: 'string', description: 'Absent: no switch is under way' },
              epoch: { type: 'integer' },
              phase: { type: 'string' },
              kind: { type: 'string' },
              oldAlive: { type: 'boolean' },
              since: { type: ['string', 'null'], format: 'date-time' },
              window: { type: 'object', properties: { from: time, to: time } },
              base: { type: 'string' },
              loadedTo: { type: ['string', 'null'], format: 'date-time' },
              events: { type: 'integer' },
              eventsPerSecond: { type: 'integer' },
              etaMs: { type: ['integer', 'null'] },
              mirrorLagMs: { type: ['integer', 'null'] },
              peer: { type: 'object', properties: { url: { type: 'string' }, healthy: { type: 'boolean' } } },
              knownFrom: { ...time, description: 'Given when the window alone is loaded' },
              bothActive: {
                type: 'object',
                description:
                  'When both sites were active at once last, and what the one that gave way took in meanwhile',
                properties: { from: time, to: time, events: { type: 'integer' } },
              },
              error: { type: 'string' },
              lastSwitch: { type: 'object', additionalProperties: true },
            },
          },
          ...ownErrors,
        },
      },
    },
    () => siteJson(site.status()),
  )
}

function siteJson({ site, record, base, mirrorLagMs, peer, loadedTo, overlap, ...progress }: SiteStatus): object {
  const { active, target, epoch, phase, kind, oldAlive, since, switchedAt, windowFrom, error, report } = record
  return {
    site,
    active,
    ...(target !== null && { target }),
    epoch,
    phase,
    kind,
    oldAlive,
    since: since === 0 ? null : isoTime(since),
    ...(switchedAt !== 0 && { window: { from: isoTime(windowFrom), to: isoTime(switchedAt) } }),
    base: base === 0 ? 'none' : isoTime(base),
    loadedTo: loadedTo === 0 ? null : isoTime(loadedTo),
    events: progress.events,
    eventsPerSecond: progress.eventsPerSecond,
    etaMs: progress.etaMs,
    mirrorLagMs,
    peer,
    ...(progress.knownFrom !== 0 && { knownFrom: isoTime(progress.knownFrom) }),
    ...(overlap !== null && {
      bothActive: { from: isoTime(overlap.from), to: isoTime(overlap.to), events: overlap.events },
    }),
    ...(error !== '' && { error }),
    ...(report !== '' && { lastSwitch: JSON.parse(report) as SwitchReport }),
  }
}
