import type { Readable } from 'node:stream'
import { ensureError } from '../../common/errors.js'
import { ApiError, retryAfter } from '../errors.js'

/** Bodies that are being received or taken, bounded together, so that a flood waits at its senders. */
export interface BytesInFlight {
  /**
   * Receives a body and holds its bytes until `task` is done. Errors: BODY_TOO_LARGE beyond `maxBodyBytes`, OVERLOADED
   * (503) when all bodies together would be too much.
   */
  receive<Result>(body: Readable | undefined, task: (bytes: Buffer) => Promise<Result>): Promise<Result>
}

const RETRY_AFTER_MS = 1000

export function bytesInFlight(limits: { readonly maxBodyBytes: number; readonly maxBytes: number }): BytesInFlight {
  let inFlight = 0
  return {
    async receive(body, task) {
      let held = 0
      const chunks: Buffer[] = []
      const take = (chunk: Buffer): void => {
        if (held + chunk.length > limits.maxBodyBytes) {
          throw new ApiError('BODY_TOO_LARGE', `the body is larger than ${limits.maxBodyBytes} bytes`)
        }
        if (inFlight + chunk.length > limits.maxBytes) {
          const headers = retryAfter(RETRY_AFTER_MS)
          throw new ApiError('OVERLOADED', 'more events are under way than are held at once: send all again', {
            headers,
          })
        }
        held += chunk.length
        inFlight += chunk.length
        chunks.push(chunk)
      }
      try {
        if (body !== undefined) await receiveChunks(body, take)
        return await task(Buffer.concat(chunks))
      } finally {
        inFlight -= held
      }
    },
  }
}

/** After a refusal the rest is received and dropped, so that the sender gets to read the answer. */
function receiveChunks(body: Readable, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => {
      body.off('data', onData)
      body.resume()
      reject(ensureError(error))
    }
    const onData = (chunk: Buffer): void => {
      try {
        take(chunk)
      } catch (error) {
        refuse(error)
      }
    }
    body.on('data', onData)
    body.once('end', resolve)
    body.once('error', refuse)
    body.once('close', () => refuse(new ApiError('CLIENT_GONE', 'the connection closed before the body had arrived')))
  })
}
