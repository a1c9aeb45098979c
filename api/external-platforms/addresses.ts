import type { FastifyInstance } from 'fastify'
import type { AddressOperation } from '../../schemas/address-health/journal-events.js'
import type { Api } from '../api.js'
import { operate } from './operate.js'
import { addedAddress } from './platform-body.js'
import { platformJson } from './platform-json.js'
import * as schemas from './schemas.js'

interface OnAddress {
  Params: { name: string; position: number }
  Querystring: { address?: string }
}

const BASE = '/external-platforms/:name/addresses'

/** POST …/addresses; DELETE …/addresses/{position}, POST …/{position}/activate, /deactivate, /repair. (address health, section 5) */
export function registerAddresses(app: FastifyInstance, api: Api): void {
  app.post<{ Params: { name: string } }>(
    BASE,
    {
      schema: {
        ...schemas.changing,
        summary: 'Adds an address',
        params: schemas.platformParams,
        body: schemas.additionBody,
        ...schemas.platformResponse(201, 'The platform with the address'),
      },
    },
    async (request, reply) => {
      const data = addedAddress(request.params.name, request.body)
      const view = await operate(api, request, reply, data.platform, { type: 'AddressAdded', data })
      void reply.status(201)
      return platformJson(view)
    },
  )
  const register = (operation: AddressOperation, method: 'POST' | 'DELETE', url: string, summary: string): void => {
    app.route<OnAddress>({
      method,
      url,
      schema: {
        ...schemas.changing,
        summary,
        params: schemas.addressParams,
        querystring: schemas.expectedAddress,
        ...schemas.platformResponse(200, 'The platform as it is now'),
      },
      async handler(request, reply) {
        const { name: platform, position } = request.params
        const data = { platform, position, operation, expected: request.query.address ?? null }
        return platformJson(await operate(api, request, reply, platform, { type: 'AddressOperated', data }))
      },
    })
  }
  register('remove', 'DELETE', `${BASE}/:position`, 'Removes an address; its alarm is cleared, those behind it move up')
  register('activate', 'POST', `${BASE}/:position/activate`, 'Lets calls go to an inactive address')
  register(
    'deactivate',
    'POST',
    `${BASE}/:position/deactivate`,
    'Lets no more calls go to an address; clears its alarm',
  )
  register('repair', 'POST', `${BASE}/:position/repair`, 'Makes a failed address active, and clears its alarm')
}
