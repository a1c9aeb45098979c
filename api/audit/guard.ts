import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { isLoopbackHost } from '../../common/plugin-address.js'
import { ApiError } from '../errors.js'

/** By these a proxy tells that it passes a request on: then its own address says nothing of who asks. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip']

/**
 * Lets through who sends the token as bearer; while there is none (empty), callers on this machine that come through no proxy.
 * Errors: UNAUTHORIZED.
 */
export function checkAuditor(request: FastifyRequest, auditToken: string): void {
  const headers = { 'www-authenticate': 'Bearer' }
  if (auditToken === '') {
    const { remoteAddress = '' } = request.socket
    const isDirect = PROXY_HEADERS.every((name) => request.headers[name] === undefined)
    if (isDirect && isLoopbackHost(remoteAddress.replace(/^::ffff:/, ''))) return
    throw new ApiError('UNAUTHORIZED', 'no auditToken is set, so only callers on the same machine are answered', {
      headers,
    })
  }
  const [, token = ''] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? []
  if (!isSame(token, auditToken)) throw new ApiError('UNAUTHORIZED', 'send the audit token as bearer', { headers })
}

/** Takes as long for a wrong token as for the right one. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}
