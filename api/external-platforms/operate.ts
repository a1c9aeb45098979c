import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PlatformAnswer, PlatformView } from '../../processors/address-health/index.js'
import type { AddressHealthEvent } from '../../schemas/address-health/journal-events.js'
import { actOf, commandAnswer } from '../acts.js'
import type { Api } from '../api.js'
import { ApiError } from '../errors.js'
import { tellPositions } from '../positions.js'
import { ADDRESS_HEALTH } from './domain.js'

const TIMEOUT_MS = 10_000

/**
 * Has an operator's command folded; answers with the platform as it is then. Errors: what the fold refuses it with, and
 * OUTCOME_OPEN, UNAVAILABLE.
 */
export async function operate(
  api: Api,
  request: FastifyRequest,
  reply: FastifyReply,
  platform: string,
  event: AddressHealthEvent,
): Promise<PlatformView> {
  const options = { ...actOf(api, request), timeoutMs: TIMEOUT_MS }
  const { answer, position } = commandAnswer(
    await api.streams.command<PlatformAnswer>(ADDRESS_HEALTH, { key: platform }, event, options),
    options.commandId,
  )
  if (answer.ok) {
    tellPositions(reply, [position])
    return answer.platform
  }
  const { code, message } = answer
  if (code !== 'POSITION_INVALID') throw new ApiError(code, message)
  throw new ApiError('BODY_INVALID', message, {
    faults: [{ index: 0, code: 'INVALID_VALUE', field: 'position', message }],
  })
}
