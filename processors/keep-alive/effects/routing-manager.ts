import { Pool } from 'undici'
import { sleep } from '../../../common/clock.js'
import type { Clock } from '../../../common/clock.js'
import { ensureError } from '../../../common/errors.js'
import type { RoutingManagerCalled } from '../../../schemas/keep-alive/journal-events.js'
import type { EffectRequest, Effector, JournalEvent } from '../../../topology/processor.js'
import { ROUTING_MANAGER_ATTEMPT, ROUTING_MANAGER_CALL } from '../effect-requests.js'
import type { RoutingManagerRequest } from '../effect-requests.js'

export interface RoutingManagerOptions {
  readonly clock: Clock
  /** Base address; the paths are appended to it. Empty: there is none, and what it would be told counts as told. */
  readonly url: string
}

/** One try, as upstream's has none. */
const TRY_MS = 2000
/** Whoever waits for an attempt gives it this much longer. */
const MARGIN_MS = 500
/** Between the tries of an attempt. */
const PAUSES_MS = [200, 400]
const CONNECTIONS = 16

/** An outcome, or why there is none. */
interface Answer {
  /** undefined: no answer, or one that says nothing about the request. */
  readonly succeeded: boolean | undefined
  readonly outcome: string
}

/**
 * Calls of the Routing Manager over a few connections that are kept open. 2xx is success; 400 and 422 refuse the data, and
 * are no better the next time; all else is tried again. A `call` is tried until it has an outcome, once a second; an `attempt` has
 * three tries. (keep-alive, sections 0 and 6)
 */
export function routingManagerEffectors({ clock, url }: RoutingManagerOptions): readonly Effector[] {
  const base = url === '' ? undefined : new URL(url.endsWith('/') ? url : `${url}/`)
  const pool = base && new Pool(base.origin, { connections: CONNECTIONS, headersTimeout: TRY_MS, bodyTimeout: TRY_MS })

  async function once(request: EffectRequest, signal: AbortSignal): Promise<Answer> {
    if (base === undefined || pool === undefined) return { succeeded: true, outcome: 'no Routing Manager is set' }
    const { method, path, body: sent } = request.payload as RoutingManagerRequest
    const ended = new AbortController()
    const stop = (): void => ended.abort()
    signal.addEventListener('abort', stop, { once: true })
    const cancel = clock.setTimer(stop, TRY_MS)
    try {
      const { statusCode, body } = await pool.request({
        method,
        path: `${base.pathname}${path}`,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(sent),
        signal: ended.signal,
      })
      await body.dump()
      return { succeeded: judged(statusCode), outcome: `answered ${statusCode}` }
    } catch (thrown) {
      const outcome = ended.signal.aborted ? `no answer within ${TRY_MS} ms` : codeOf(ensureError(thrown))
      return { succeeded: undefined, outcome }
    } finally {
      cancel()
      signal.removeEventListener('abort', stop)
    }
  }

  return [
    {
      kind: ROUTING_MANAGER_CALL,
      deadlineMs: TRY_MS + MARGIN_MS,
      async perform(request, signal) {
        const { succeeded, outcome } = await once(request, signal)
        if (succeeded === undefined) throw new Error(`Routing Manager: ${nameOf(request)}: ${outcome}`)
        return called(request, succeeded, outcome)
      },
    },
    {
      kind: ROUTING_MANAGER_ATTEMPT,
      deadlineMs: TRY_MS * (PAUSES_MS.length + 1) + PAUSES_MS.reduce((sum, pauseMs) => sum + pauseMs) + MARGIN_MS,
      async perform(request, signal) {
        let answer = await once(request, signal)
        for (const pauseMs of PAUSES_MS) {
          if (answer.succeeded !== undefined) break
          await sleep(clock, pauseMs, signal)
          signal.throwIfAborted()
          answer = await once(request, signal)
        }
        return called(request, answer.succeeded ?? false, answer.outcome)
      },
    },
  ]
}

function judged(status: number): boolean | undefined {
  if (status >= 200 && status < 300) return true
  return status === 400 || status === 422 ? false : undefined
}

function called({ id, payload }: EffectRequest, succeeded: boolean, outcome: string): JournalEvent {
  const { ric, call } = payload as RoutingManagerRequest
  return {
    type: 'RoutingManagerCalled',
    data: { ric, call, effectId: id, succeeded, outcome } satisfies RoutingManagerCalled,
  }
}

function nameOf({ payload }: EffectRequest): string {
  const { method, path } = payload as RoutingManagerRequest
  return `${method} ${path}`
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : 'no HTTP answer'
}
