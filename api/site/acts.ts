import type { FastifyInstance, FastifyRequest } from 'fastify'
import { headerText } from '../acts.js'
import { ApiError } from '../errors.js'
import { ownErrors } from '../ops/schemas.js'
import { hasHopped } from './hop.js'
import { refusalOf } from './refusal.js'
import { actWords } from './site-control.js'
import type { SiteAct, SiteControl } from './site-control.js'

const summaries: Readonly<Record<SiteAct, string>> = {
  failover: 'Make the secondary site the active one; asked again it tells how far that is',
  failback: 'Make the primary site the active one; asked again it tells how far that is',
  abort: 'Give a switch up that is in PRELOAD',
}
const TEXT_LIMIT = 255

/** POST /site/failover, /site/failback, /site/abort: answered at once, the load goes on behind. (two sites, sections 5 and 7) */
export function registerSiteActs(app: FastifyInstance, site: SiteControl): void {
  for (const [act, summary] of Object.entries(summaries) as [SiteAct, string][]) {
    app.post(
      `/site/${act}`,
      {
        schema: {
          tags: ['sites'],
          summary,
          body: { type: 'object', properties: { actor: { type: 'string' }, reason: { type: 'string' } } },
          response: {
            200: {
              description: 'How the switch stands',
              type: 'object',
              properties: {
                status: { type: 'string', enum: [...actWords] },
                epoch: { type: 'integer' },
                phase: { type: 'string' },
              },
            },
            ...ownErrors,
          },
        },
      },
      async (request) => {
        const by = { actor: saidBy(request, 'actor'), reason: saidBy(request, 'reason') }
        const result = await site.act(act, { ...by, forwarded: hasHopped(request) })
        if (!result.ok) throw refusalOf(result)
        return { status: result.status, epoch: result.epoch, phase: result.phase }
      },
    )
  }
}

/** In the body, or as with any other act in its header. */
function saidBy(request: FastifyRequest, name: 'actor' | 'reason'): string {
  const { body } = request
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body))) {
    throw new ApiError('BODY_INVALID', 'the body must be an object with actor and reason, or empty')
  }
  const value =
    (body as Record<string, unknown> | undefined)?.[name] ?? headerText(request, `x-pulsefold-${name}`) ?? ''
  if (typeof value === 'string' && value.length <= TEXT_LIMIT) return value
  throw new ApiError('BODY_INVALID', `${name} must be a text of at most ${TEXT_LIMIT} characters`)
}
