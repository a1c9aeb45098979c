import { Agent, request } from 'undici'
import { historyFromJson } from '../../api/site/history-json.js'
import { actDoneFrom, digestsFrom, siteViewFrom } from '../../api/site/from-peer.js'
import type { Peer } from './peer.js'

export interface HttpPeerOptions {
  readonly url: string
  /** What the two sites show each other; empty: nothing. */
  readonly token: string
}

const ANSWER_MS = 5000
/** The other site commits and closes its stores before it answers. */
const EXCHANGE_MS = 15_000
const HEALTH_MS = 2000
const CONNECT_MS = 4000
/** The other site waits a second for something new. */
const HISTORY_MS = 30_000

/** The other site over HTTP. */
export function httpPeer({ url, token }: HttpPeerOptions): Peer & { close(): Promise<void> } {
  const agent = new Agent({ connect: { timeout: CONNECT_MS } })
  const authorization = token === '' ? {} : { authorization: `Bearer ${token}` }

  async function ask(
    method: 'GET' | 'PUT' | 'POST',
    path: string,
    body: unknown,
    limitMs: number,
    signal?: AbortSignal,
  ) {
    const limit = AbortSignal.timeout(limitMs)
    const answer = await request(new URL(path, url), {
      dispatcher: agent,
      method,
      headers: {
        ...authorization,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        'x-pulsefold-hop': '1',
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    })
    const json: unknown = await answer.body.json()
    return { status: answer.statusCode, json }
  }

  async function accepted(asking: ReturnType<typeof ask>): Promise<unknown> {
    const { status, json } = await asking
    if (status !== 200) throw new Error(`the other site answered ${status}`)
    return json
  }

  return {
    url,
    async exchange(record) {
      const { status, json } = await ask('PUT', '/site/record', record, EXCHANGE_MS)
      if (status !== 200 && status !== 409) throw new Error(`the other site answered ${status}`)
      return siteViewFrom(json) ?? somethingElse('its view')
    },
    async isHealthy() {
      // A connection of its own: one that is open already says nothing of new ones.
      const once = new Agent({ connect: { timeout: CONNECT_MS }, pipelining: 0 })
      try {
        const { statusCode, body } = await request(new URL('/notification/healthCheck', url), {
          dispatcher: once,
          headersTimeout: HEALTH_MS,
          signal: AbortSignal.timeout(CONNECT_MS + HEALTH_MS),
        })
        await body.dump()
        return statusCode === 200
      } finally {
        await once.destroy()
      }
    },
    async history(wanted, signal) {
      const json = await accepted(ask('POST', '/site/history', { wanted }, HISTORY_MS, signal))
      const { parts } = (json ?? {}) as { readonly parts?: unknown }
      const read = Array.isArray(parts) ? parts.map(historyFromJson) : [undefined]
      return read.map((part) => part ?? somethingElse('its journals'))
    },
    async act(act, by) {
      const { status, json } = await ask('POST', `/site/${act}`, by, ANSWER_MS)
      if (status === 200) return actDoneFrom(json) ?? somethingElse('how a switch stands')
      if (status !== 409) throw new Error(`the other site answered ${status}`)
      const { message = '' } = (json ?? {}) as { readonly message?: unknown }
      return { ok: false, reason: 'conflict', message: String(message) }
    },
    async digests() {
      const json = await accepted(ask('GET', '/site/digests', undefined, ANSWER_MS))
      return digestsFrom(json) ?? somethingElse('its digests')
    },
    close: () => agent.destroy(),
  }
}

/** What answers there is no site, or of another version: nothing may be done by what it says. */
function somethingElse(than: string): never {
  throw new Error(`the other site answered with something else than ${than}`)
}
