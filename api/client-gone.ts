import { Socket } from 'node:net'
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

/** As `clientGone`, for an answer that may take longer than a connection may be idle: it is not closed for that. */
export function clientWaits(reply: FastifyReply): AbortSignal {
  const { socket } = reply.raw
  // Behind the answer the server's own limit holds again.
  if (socket instanceof Socket) socket.setTimeout(0)
  return clientGone(reply)
}
