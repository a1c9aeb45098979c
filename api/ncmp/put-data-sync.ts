import type { FastifyInstance } from 'fastify'
import type { DataSyncAnswer } from '../../schemas/trust-level/journal-events.js'
import { TRUST_LEVEL } from '../trust-level-queries.js'
import type { Api } from '../api.js'
import { actOf, commandAnswer } from '../acts.js'
import { ApiError } from '../errors.js'
import { tellPositions } from '../positions.js'
import { notFound } from './find-cm-handle.js'
import { cmHandleIdFault } from '../../schemas/trust-level/references.js'
import * as schemas from './schemas.js'

const TIMEOUT_MS = 10_000

/** PUT {ncmp}/v1/ch/{id}/data-sync. */
export function registerPutDataSync(app: FastifyInstance, api: Api): void {
  app.put<{ Params: { reference: string }; Querystring: { dataSyncEnabled?: string } }>(
    `${api.ncmpBasePath}/v1/ch/:reference/data-sync`,
    {
      schema: {
        tags: ['ncmp'],
        summary: 'Sets the data sync flag of a cm handle, by its id',
        params: schemas.referenceParams,
        querystring: {
          type: 'object',
          properties: { dataSyncEnabled: { type: 'string', enum: ['true', 'false'], description: 'Required' } },
        },
        headers: schemas.actHeaders,
        response: { 200: { description: 'Set', type: 'null' }, ...schemas.ncmpErrors },
      },
    },
    async (request, reply) => {
      const cmHandle = request.params.reference
      const { dataSyncEnabled } = request.query
      if (dataSyncEnabled === undefined) throw new ApiError('PARAMETER_INVALID', 'dataSyncEnabled is required')
      if (cmHandleIdFault(cmHandle) !== null) throw notFound(cmHandle, null)
      const event = { type: 'DataSyncSet', data: { cmHandle, dataSyncEnabled: dataSyncEnabled === 'true' } }
      const options = { ...actOf(api, request), timeoutMs: TIMEOUT_MS }
      const { answer, position } = commandAnswer(
        await api.streams.command<DataSyncAnswer>(TRUST_LEVEL, { key: cmHandle }, event, options),
        options.commandId,
      )
      if (!answer.found) throw notFound(cmHandle, null)
      tellPositions(reply, [position])
      return reply.send()
    },
  )
}
