import type { Socket } from 'node:net'
import { STATUS_CODES } from 'node:http'
import { errorBody } from './error-shapes.js'
import { ApiError } from './errors.js'
import { publicError } from './http-status.js'

/** Answers what is not even a request (slow, too large, not HTTP) and closes the connection. */
export function answerMalformed(error: Error, socket: Socket): void {
  if (socket.destroyed) return
  if (!socket.writable || ('code' in error && error.code === 'ECONNRESET')) {
    socket.destroy()
    return
  }
  const known = publicError(error, '')
  const shown = known.code === 'INTERNAL' ? new ApiError('REQUEST_MALFORMED', 'the request is not HTTP/1.1') : known
  const body = JSON.stringify(errorBody('own', shown))
  socket.end(
    `HTTP/1.1 ${shown.status} ${STATUS_CODES[shown.status] ?? ''}\r\n` +
      `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
  socket.destroySoon()
}
