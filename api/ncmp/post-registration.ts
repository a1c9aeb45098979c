import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { actOf } from '../acts.js'
import { tellPositions } from '../positions.js'
import { startAct } from './registration/act.js'
import { failureBody, hasFailures } from './registration/failures.js'
import { register } from './registration/register.js'
import { parseRegistration } from './registration/request.js'
import * as schemas from './schemas.js'

const BODY_LIMIT_BYTES = 32 * 1024 * 1024
const TIMEOUT_MS = 25_000

/** POST {ncmpInventory}/v1/ch: 200 without body, or 500 with the handles that failed. (trust levels, section 1.4) */
export function registerPostRegistration(app: FastifyInstance, api: Api): void {
  app.post(
    `${api.ncmpInventoryBasePath}/v1/ch`,
    {
      bodyLimit: BODY_LIMIT_BYTES,
      schema: {
        tags: ['ncmp inventory'],
        summary: 'Registers a DMI plugin; removes, creates, updates and upgrades cm handles, in this order',
        headers: schemas.actHeaders,
        body: schemas.registrationBody,
        response: {
          200: { description: 'All of it stands', type: 'null' },
          500: schemas.registrationFailures,
          '4XX': schemas.ncmpError,
        },
      },
    },
    async (request, reply) => {
      const registration = parseRegistration(request.body, api.pluginAddressPolicy)
      const act = startAct(api, actOf(api, request), TIMEOUT_MS)
      const failures = await register(api, act, registration)
      tellPositions(reply, act.positions)
      return hasFailures(failures) ? reply.status(500).send(failureBody(failures)) : reply.send()
    },
  )
}
