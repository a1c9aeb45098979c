import type { FastifyInstance } from 'fastify'
import type { Api, ApiLogger } from '../api.js'
import { retryAfter } from '../errors.js'
import { publicError } from '../http-status.js'
import { E2Error } from './errors.js'
import { registerFeeds } from './feeds.js'
import { registerNodebs } from './nodebs.js'
import { registerOwedCalls } from './owed-calls.js'
import { registerReads } from './reads.js'
import { registerRic } from './ric.js'
import { sendJson } from './route.js'

/** The interface of O-RAN's E2 Manager, with its error bodies; and what goes with it here. (keep-alive, section 2) */
export async function registerE2(app: FastifyInstance, api: Api, logger: ApiLogger): Promise<void> {
  registerFeeds(app, api)
  registerOwedCalls(app, api)
  await app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers()
    // Each route says itself what content type it takes.
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    scope.setErrorHandler((error, request, reply) => {
      const shown = shownError(error, request.id)
      if (shown.errorCode >= 500 && shown.errorCode < 510) {
        logger.error({ requestId: request.id, err: shown.cause ?? error }, 'request failed')
      } else {
        logger.debug({ requestId: request.id, code: shown.errorCode }, 'request refused')
      }
      const headers = shown.retryAfterMs > 0 ? retryAfter(shown.retryAfterMs) : {}
      const { errorCode, errorMessage } = shown
      return sendJson(reply.status(shown.status).headers(headers), { errorCode, errorMessage })
    })
    registerReads(scope, api)
    registerNodebs(scope, api)
    registerRic(scope, api)
    done()
  })
}

interface Shown {
  readonly status: number
  readonly errorCode: number
  readonly errorMessage: string
  readonly retryAfterMs: number
  readonly cause: unknown
}

/** Any error in the E2 Manager's form: what is not one of its own carries its status as number. */
function shownError(error: unknown, requestId: string): Shown {
  if (error instanceof E2Error) {
    const { status, errorCode, message, retryAfterMs, cause } = error
    return { status, errorCode, errorMessage: message, retryAfterMs, cause }
  }
  const { status, message, cause, retryable } = publicError(error, requestId)
  if (status === 500) return shownError(new E2Error('E2_INTERNAL', { cause: cause ?? error }), requestId)
  return { status, errorCode: status, errorMessage: message, retryAfterMs: retryable ? 1000 : 0, cause }
}
