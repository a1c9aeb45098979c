import type { FastifyInstance } from 'fastify'
import type { Api } from '../api.js'
import { clientWaits } from '../client-gone.js'
import { createGate } from '../gate.js'
import { ownErrors } from '../ops/schemas.js'

/** Each reads whole stores. */
const AT_ONCE = 1

/** GET /audit/copies: the state that this instance holds of each partition, as task or standby, by position and digest. */
export function registerAuditCopies(app: FastifyInstance, { auditCopies }: Api): void {
  const gate = createGate(AT_ONCE)
  app.get(
    '/audit/copies',
    {
      schema: {
        tags: ['audit'],
        summary: 'Copies that this instance holds, with their positions and digests, and where the other instances are',
        response: {
          200: {
            description: '`sealed` is kept with the position, `ofRows` is of the rows themselves',
            type: 'object',
            properties: {
              others: { type: 'array', items: { type: 'string' } },
              copies: { type: 'array', items: { type: 'object', additionalProperties: true } },
              unread: { type: 'array', items: { type: 'string' } },
            },
          },
          ...ownErrors,
        },
      },
    },
    (_request, reply) => gate.run(clientWaits(reply), () => auditCopies()),
  )
}
