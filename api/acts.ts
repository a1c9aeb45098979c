import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import type { CommandOptions, CommandResult, Position } from '../topology/streams.js'
import type { Api } from './api.js'
import { ApiError, retryAfter } from './errors.js'

const NAME_LIMIT = 255

/** Id, actor and reason of a changing request, from its headers. Errors: PARAMETER_INVALID. (trust levels, section 10) */
export function actOf(api: Api, request: FastifyRequest): Omit<CommandOptions, 'timeoutMs'> {
  const actor = header(request, 'x-pulsefold-actor')
  const reason = header(request, 'x-pulsefold-reason')
  return {
    commandId: header(request, 'idempotency-key') ?? api.newId(),
    ...(actor !== undefined && { actor }),
    ...(reason !== undefined && { reason }),
  }
}

/** What the command's fold said. `actId` is what a repeat must carry. Errors: OUTCOME_OPEN (504), UNAVAILABLE (503). */
export function commandAnswer<Answer>(
  result: CommandResult<Answer>,
  actId: string,
): { readonly answer: Answer; readonly position: Position } {
  if (result.ok) return result
  const headers = retryAfter(result.retryAfterMs)
  const code = result.reason === 'outcomeOpen' ? 'OUTCOME_OPEN' : 'UNAVAILABLE'
  throw new ApiError(code, noAnswerText(result, actId), { headers, cause: new Error(result.message) })
}

/** Why there is no answer, in words for the caller. */
export function noAnswerText({ reason }: Extract<CommandResult<unknown>, { ok: false }>, actId: string): string {
  return reason === 'outcomeOpen'
    ? `the outcome is not known yet: send again with Idempotency-Key ${actId} to learn it`
    : 'not taken: send again'
}

function header(request: FastifyRequest, name: string): string | undefined {
  const text = headerText(request, name)?.trim()
  if (text === undefined || text === '') return undefined
  if (text.length > NAME_LIMIT)
    throw new ApiError('PARAMETER_INVALID', `${name} is longer than ${NAME_LIMIT} characters`)
  return text
}

/** A header in the words of people: UTF-8 as clients send it, where it is that, else Latin-1, as which Node reads headers. */
export function headerText({ headers }: FastifyRequest, name: string): string | undefined {
  const value = headers[name]
  if (value === undefined) return undefined
  const text = Array.isArray(value) ? value.join(',') : value
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : text
}
