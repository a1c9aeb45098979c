import type { FastifyReply } from 'fastify'
import { ApiError } from './errors.js'

/** Aborted when the connection closes before the answer is out; the reason is a CLIENT_GONE. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished)
      controller.abort(new ApiError('CLIENT_GONE', 'the client has closed the connection'))
  })
  return controller.signal
}
