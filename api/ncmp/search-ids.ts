import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { ApiError } from '../errors.js'
import { parseConditions, storedPluginName } from './query-conditions.js'
import * as schemas from './schemas.js'
import { answerTexts } from './search.js'
import type { PagingQuery } from './search.js'

interface OutputQuery extends PagingQuery {
  readonly outputAlternateId?: string
}

const querystring = {
  type: 'object',
  properties: { outputAlternateId: schemas.outputAlternateId, ...schemas.pagingParameters },
}

/** POST {ncmp}/v1/ch/id-searches and POST {ncmpInventory}/v1/ch/searches. */
export function registerSearchIds(app: FastifyInstance, api: Api): void {
  const routes = [
    { url: `${api.ncmpBasePath}/v1/ch/id-searches`, side: 'north', tag: 'ncmp' },
    { url: `${api.ncmpInventoryBasePath}/v1/ch/searches`, side: 'south', tag: 'ncmp inventory' },
  ] as const
  for (const { url, side, tag } of routes) {
    app.post<{ Querystring: OutputQuery }>(
      url,
      {
        schema: {
          tags: [tag],
          summary: 'Ids of the cm handles that meet all conditions',
          querystring,
          headers: schemas.demandHeaders,
          body: schemas.queryBody,
          response: { 200: schemas.textList, ...schemas.ncmpErrors },
        },
      },
      (request, reply) => {
        const { pluginAddressPolicy } = api
        const conditions = parseConditions(request.body, { side, deprecatedConditions: false, pluginAddressPolicy })
        return answerTexts(api, request, reply, conditions, fieldsOf(request.query))
      },
    )
  }
}

/** GET {ncmpInventory}/v1/ch/cmHandles: the handles of a plugin. */
export function registerPluginCmHandles(app: FastifyInstance, api: Api): void {
  app.get<{ Querystring: OutputQuery & { 'dmi-plugin-identifier'?: string } }>(
    `${api.ncmpInventoryBasePath}/v1/ch/cmHandles`,
    {
      schema: {
        tags: ['ncmp inventory'],
        summary: 'Ids of the cm handles of a DMI plugin; none for an unknown plugin',
        querystring: {
          type: 'object',
          properties: {
            'dmi-plugin-identifier': { type: 'string', description: 'Required. Address of the plugin' },
            ...querystring.properties,
          },
        },
        headers: schemas.demandHeaders,
        response: { 200: schemas.textList, ...schemas.ncmpErrors },
      },
    },
    (request, reply) => {
      const plugin = request.query['dmi-plugin-identifier']
      if (plugin === undefined) throw new ApiError('PARAMETER_INVALID', 'dmi-plugin-identifier is required')
      const name = storedPluginName(plugin, api.pluginAddressPolicy)
      return answerTexts(api, request, reply, [{ kind: 'dmiPlugin', name }], fieldsOf(request.query))
    },
  )
}

function fieldsOf(query: OutputQuery): 'id' | 'alternateId' {
  return query.outputAlternateId === 'true' ? 'alternateId' : 'id'
}
