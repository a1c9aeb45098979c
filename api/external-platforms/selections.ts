import type { FastifyInstance } from 'fastify'
import { addressHealthQueries } from '../../processors/address-health/index.js'
import type { Selection } from '../../processors/address-health/index.js'
import type { RetryAnswer } from '../../schemas/address-health/journal-events.js'
import { nameFault } from '../../schemas/address-health/names.js'
import type { Api } from '../api.js'
import { ApiError, retryAfter } from '../errors.js'
import { ownErrors } from '../ops/schemas.js'
import { answered, demandOf, tellProvenance } from '../positions.js'
import { ADDRESS_HEALTH } from './domain.js'
import { membersOf } from './members.js'
import { placeJson } from './platform-json.js'
import { platformNotFound } from './platforms.js'
import * as schemas from './schemas.js'

/** No call waits longer for a retry: without an answer by then it goes elsewhere, and the retry, if it began, ends unused. */
const RETRY_WAIT_MS = 250
const ASK_AGAIN_MS = 1000

/**
 * POST /external-platforms/{name}/selections: where to send one call. A read of the owner's memory; only a call that is made a
 * retry waits for the journal. (address health, sections 0 and 5)
 */
export function registerSelections(app: FastifyInstance, api: Api): void {
  app.post<{ Params: { name: string } }>(
    '/external-platforms/:name/selections',
    {
      config: { wholeNumbersAsTexts: true },
      schema: {
        tags: ['external platforms'],
        headers: schemas.reading.headers,
        summary: 'The address for one call, a fallback, and the id of the retry when the call is one',
        params: schemas.platformParams,
        body: schemas.selectionBody,
        response: { 200: { description: 'Where to', ...schemas.selectionSchema }, ...ownErrors },
      },
    },
    async (request, reply) => {
      const platform = request.params.name
      const callId = callIdOf(request.body)
      const { selection: query } = addressHealthQueries
      const found = answered(
        await api.streams.query(ADDRESS_HEALTH, query, platform, { platform }, demandOf(api, request, reply)),
      )
      tellProvenance(reply, [found])
      const selection = found.result
      if (!selection.found) throw platformNotFound(platform, found)
      if (selection.all !== null) {
        if (selection.all.length === 0) throw noneAvailable(null)
        return { addresses: selection.all.map(placeJson) }
      }
      const attemptId = await retryOf(api, platform, selection, callId)
      const isRetry = attemptId !== undefined
      const choice = isRetry ? selection.retry : selection.choice
      const other = isRetry ? selection.choice : selection.fallback
      const fallback = other?.position === choice?.position ? null : other
      if (choice === null) throw noneAvailable(selection.nextRetryMs)
      return {
        ...placeJson(choice),
        ...(isRetry && { attemptId }),
        ...(fallback !== null && { fallback: placeJson(fallback) }),
      }
    },
  )
}

/** The id of the retry that this call becomes; undefined: it is none. */
async function retryOf(
  api: Api,
  platform: string,
  { retry }: Extract<Selection, { found: true }>,
  callId: string,
): Promise<string | undefined> {
  if (retry === null) return undefined
  const event = { type: 'RetryRequested', data: { platform, addressId: retry.addressId, callId } }
  const options = { commandId: api.newId(), timeoutMs: RETRY_WAIT_MS }
  const result = await api.streams.command<RetryAnswer>(ADDRESS_HEALTH, { key: platform }, event, options)
  return result.ok && result.answer.granted ? result.answer.attemptId : undefined
}

/** Whole numbers come as their texts here. Errors: BODY_INVALID. */
function callIdOf(body: unknown): string {
  if (body === undefined) return ''
  const members = membersOf(body)
  const callId = members.take('callId', 'a text or a whole number of at most 255 characters', (value) =>
    typeof value === 'string' && nameFault(value) === null ? value : undefined,
  )
  members.check()
  return callId ?? ''
}

function noneAvailable(nextRetryMs: number | null): ApiError {
  const headers = retryAfter(nextRetryMs ?? ASK_AGAIN_MS)
  return new ApiError('NONE_AVAILABLE', 'no address of the platform is active', { headers })
}
