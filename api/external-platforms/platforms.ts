import type { FastifyInstance } from 'fastify'
import { cut } from '../../common/errors.js'
import { addressHealthQueries } from '../../processors/address-health/index.js'
import type { Api } from '../api.js'
import type { Provenance } from '../../topology/streams.js'
import { ApiError } from '../errors.js'
import { queryError } from '../http-status.js'
import { answered, demandOf, tellProvenance } from '../positions.js'
import { ownErrors } from '../ops/schemas.js'
import { ADDRESS_HEALTH } from './domain.js'
import { operate } from './operate.js'
import { createdPlatform, updatedPlatform } from './platform-body.js'
import { platformJson } from './platform-json.js'
import * as schemas from './schemas.js'

interface OnPlatform {
  Params: { name: string }
}

const MOST_LISTED = 10_000
const LISTED = 1000

/** GET, POST /external-platforms; GET, PUT, DELETE /external-platforms/{name}. (address health, section 5) */
export function registerPlatforms(app: FastifyInstance, api: Api): void {
  registerList(app, api)
  registerShow(app, api)

  app.post(
    '/external-platforms',
    {
      schema: {
        ...schemas.changing,
        summary: 'Creates a platform, with addresses or without',
        body: schemas.creationBody,
        ...schemas.platformResponse(201, 'Created'),
      },
    },
    async (request, reply) => {
      const data = createdPlatform(request.body)
      const view = await operate(api, request, reply, data.platform, { type: 'PlatformCreated', data })
      void reply.status(201).header('location', `/external-platforms/${encodeURIComponent(data.platform)}`)
      return platformJson(view)
    },
  )

  app.put<OnPlatform>(
    '/external-platforms/:name',
    {
      schema: {
        ...schemas.changing,
        summary: 'Changes parameters; those that are absent stay',
        params: schemas.platformParams,
        body: schemas.updateBody,
        ...schemas.platformResponse(200, 'The platform as it is now'),
      },
    },
    async (request, reply) => {
      const data = updatedPlatform(request.params.name, request.body)
      return platformJson(await operate(api, request, reply, data.platform, { type: 'PlatformUpdated', data }))
    },
  )

  app.delete<OnPlatform>(
    '/external-platforms/:name',
    {
      schema: {
        ...schemas.changing,
        summary: 'Removes a platform; its alarms are cleared',
        params: schemas.platformParams,
        response: { 204: { description: 'Removed', type: 'null' }, ...ownErrors },
      },
    },
    async (request, reply) => {
      const platform = request.params.name
      await operate(api, request, reply, platform, { type: 'PlatformDeleted', data: { platform } })
      return reply.status(204).send()
    },
  )
}

function registerShow(app: FastifyInstance, api: Api): void {
  app.get<OnPlatform>(
    '/external-platforms/:name',
    {
      schema: {
        ...schemas.reading,
        summary: 'A platform with its parameters, and its addresses with their states',
        params: schemas.platformParams,
        ...schemas.platformResponse(200, 'The platform'),
      },
    },
    async (request, reply) => {
      const platform = request.params.name
      const { platform: query } = addressHealthQueries
      const found = answered(
        await api.streams.query(ADDRESS_HEALTH, query, platform, { platform }, demandOf(api, request, reply)),
      )
      tellProvenance(reply, [found])
      if (found.result === null) throw platformNotFound(platform, found)
      return platformJson(found.result)
    },
  )
}

function registerList(app: FastifyInstance, api: Api): void {
  app.get<{ Querystring: { limit?: number; after?: string } }>(
    '/external-platforms',
    {
      schema: {
        ...schemas.reading,
        summary: 'All platforms by name, in pages; the next one is in the Link header',
        querystring: {
          type: 'object',
          properties: {
            limit: { type: 'integer', minimum: 1, maximum: MOST_LISTED, description: `Default ${LISTED}` },
            after: { type: 'string', description: 'The last name of the page before' },
          },
        },
        response: {
          200: { description: 'Platforms', type: 'array', items: schemas.platformSchema },
          ...ownErrors,
        },
      },
    },
    async (request, reply) => {
      const { limit = LISTED, after } = request.query
      const args = { limit: limit + 1, ...(after !== undefined && { after }) }
      const results = await api.streams.queryAll(
        ADDRESS_HEALTH,
        addressHealthQueries.platforms,
        args,
        demandOf(api, request, reply),
      )
      const pages = results.map(answered)
      tellProvenance(reply, pages)
      const all = pages.flatMap(({ result }) => result).sort((a, b) => (a.name < b.name ? -1 : 1))
      const page = all.slice(0, limit)
      const last = page.at(-1)
      if (last !== undefined && all.length > limit) {
        const next = new URLSearchParams({ limit: String(limit), after: last.name }).toString()
        void reply.header('link', `</external-platforms?${next}>; rel="next"`)
      }
      return page.map(platformJson)
    },
  )
}

/** Only a live task knows that there is none: a standby may not have heard of it yet. */
export function platformNotFound(name: string, { role }: Pick<Provenance, 'role'>): ApiError {
  if (role === 'active') return new ApiError('PLATFORM_NOT_FOUND', `there is no platform ${cut(name)}`)
  return queryError('notOwned', `platform ${cut(name)} is not found in a standby copy`, RETRY_AFTER_MS)
}

const RETRY_AFTER_MS = 1000
