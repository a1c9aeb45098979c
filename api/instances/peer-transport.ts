import { Agent } from 'undici'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import { PROTOCOL, PROTOCOL_HEADER } from '../../topology/cluster/instance-call.js'
import { PeerError } from '../../topology/cluster/errors.js'
import type { PeerRequest, PeerTransport } from '../../topology/cluster/peers.js'

/** Connections to one instance: calls beyond wait for one, as long as they may. */
const CONNECTIONS = 64
const CONNECT_TIMEOUT_MS = 1000
const MAX_PLACES = 1000
/** Shorter than any server keeps an idle connection. */
const KEEP_ALIVE_MS = 4000

export interface HttpPeerTransport extends PeerTransport {
  /** Ends all calls under way. */
  close(): Promise<void>
}

/** Calls over HTTP/1.1, on connections that are kept. */
export function httpPeerTransport(clock: Clock): HttpPeerTransport {
  const agent = new Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // The call's own time bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

  const places = new Map<string, { readonly origin: string; readonly pathname: string }>()

  /** Looked at with every call. */
  function placeOf(url: string): { readonly origin: string; readonly pathname: string } {
    const known = places.get(url)
    if (known !== undefined) return known
    const { origin, pathname } = new URL(url)
    const place = { origin, pathname: pathname.replace(/\/$/, '') }
    if (places.size >= MAX_PLACES) places.clear()
    places.set(url, place)
    return place
  }

  async function post(request: PeerRequest): Promise<{ readonly status: number; readonly body: string }> {
    const { url, path, token, body, timeoutMs, maxAnswerBytes, signal } = request
    signal?.throwIfAborted()
    const ended = new AbortController()
    const cancelTimer = clock.setTimer(() => ended.abort(timedOut(url, timeoutMs)), timeoutMs)
    const onGone = (): void => ended.abort(signal?.reason)
    signal?.addEventListener('abort', onGone, { once: true })
    try {
      const { origin, pathname } = placeOf(url)
      const answer = await agent.request({
        origin,
        path: pathname + path,
        method: 'POST',
        headers: callHeaders(token),
        body,
        signal: ended.signal,
      })
      return { status: answer.statusCode, body: await received(answer.body, url, maxAnswerBytes) }
    } catch (thrown) {
      if (ended.signal.aborted) throw ensureError(ended.signal.reason)
      throw thrown instanceof PeerError ? thrown : failureOf(url, thrown)
    } finally {
      cancelTimer()
      signal?.removeEventListener('abort', onGone)
    }
  }

  return { post, close: () => agent.destroy() }
}

/** What a call says of itself. */
export function callHeaders(token: string): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    [PROTOCOL_HEADER]: String(PROTOCOL),
  }
}

function timedOut(url: string, timeoutMs: number): PeerError {
  const message = `${url} has not answered within ${Math.ceil(timeoutMs)} ms`
  return new PeerError('PEER_TIMED_OUT', message, { details: { url } })
}

async function received(body: AsyncIterable<unknown>, url: string, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) {
      throw new PeerError('PEER_ANSWER_TOO_LARGE', `${url} answers with more than ${maxBytes} bytes`, {
        details: { url },
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Before the connection stood nothing was sent. */
const unsentCodes = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

function failureOf(url: string, thrown: unknown): PeerError {
  const error = ensureError(thrown)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const context = { details: { url }, cause: error }
  return unsentCodes.has(code)
    ? new PeerError('PEER_UNREACHABLE', `${url} takes no connection (${code})`, context)
    : new PeerError('PEER_BROKEN_OFF', `${url} broke off (${code === '' ? error.message : code})`, context)
}
