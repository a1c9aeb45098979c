import type { FastifyReply } from 'fastify'
import { ApiError } from './errors.js'

/** Aborted when the connection closes before the answer is out; the reason is a CLIENT_GONE. */
export function clientGone(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const closed = (): void => {
    if (!reply.raw.writableFinished)
      controller.abort(new ApiError('CLIENT_GONE', 'the client has closed the connection'))
  }
  if (reply.raw.closed) closed()
  else reply.raw.once('close', closed)
  return controller.signal
}
