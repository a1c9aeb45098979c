import { Pool } from 'undici'
import { sleep, type Clock } from '../../common/clock.js'
import { cut, ensureError } from '../../common/errors.js'
import { isLoopbackHost } from '../../common/plugin-address.js'
import { SimulationError } from './errors.js'

export interface HttpAnswer {
  readonly status: number
  readonly body: unknown
  readonly durationMs: number
}

export interface HttpClient {
  /**
   * The answer, whatever its status; 503 is tried again, and lost connections are after the first answer. Rejects with
   * SIMULATION_NO_ANSWER.
   */
  ask(method: Method, path: string, request?: HttpRequest): Promise<HttpAnswer>
  /** As `ask`, and rejects with SIMULATION_REFUSED when the status is another. */
  expect(status: number, method: Method, path: string, request?: HttpRequest): Promise<HttpAnswer>
  /** Requests that were sent again so far. */
  retries(): number
  close(): Promise<void>
}

export interface HttpRequest {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** 503 is an answer as any other. */
  readonly isAskedOnce?: true
}

type Method = 'GET' | 'POST' | 'DELETE'

const MAX_TRIES = 10
const ANSWER_TIMEOUT_MS = 60_000

/** Talks to the Pulsefold at `url`; throws SIMULATION_TARGET_NOT_LOOPBACK for any other machine's. */
export function httpClient(url: string, clock: Clock, signal: AbortSignal): HttpClient {
  const target = URL.canParse(url) ? new URL(url) : null
  if (target?.protocol !== 'http:' || !isLoopbackHost(target.hostname)) {
    throw new SimulationError('SIMULATION_TARGET_NOT_LOOPBACK', `${cut(url)} is no http address on loopback`)
  }
  const pool = new Pool(target.origin, { connections: 4, headersTimeout: ANSWER_TIMEOUT_MS })
  let retries = 0
  let isReached = false

  const once = async (method: Method, path: string, { body, headers }: HttpRequest) => {
    const started = clock.monotonic()
    const answer = await pool.request({
      method,
      path,
      signal,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.body.text()
    const durationMs = clock.monotonic() - started
    const retryAfterMs = Number(answer.headers['retry-after'] ?? 1) * 1000
    return { status: answer.statusCode, body: parsed(text), durationMs, retryAfterMs }
  }

  const ask: HttpClient['ask'] = async (method, path, request = {}) => {
    for (let tries = 1; ; tries++) {
      let waitMs = 1000
      try {
        const answer = await once(method, path, request)
        isReached = true
        if (answer.status !== 503 || request.isAskedOnce === true) return answer
        waitMs = Math.min(answer.retryAfterMs || waitMs, 5000)
        if (tries === MAX_TRIES) return answer
      } catch (error) {
        signal.throwIfAborted()
        if (!isReached || tries === MAX_TRIES) {
          const message = `no answer from ${target.origin}${path}: ${ensureError(error).message}`
          throw new SimulationError('SIMULATION_NO_ANSWER', message, { cause: error })
        }
      }
      retries += 1
      await sleep(clock, waitMs, signal)
    }
  }

  return {
    ask,
    async expect(status, method, path, request) {
      const answer = await ask(method, path, request)
      if (answer.status === status) return answer
      const message = `${method} ${path} answered ${answer.status} instead of ${status}: ${cut(answer.body, 500)}`
      throw new SimulationError('SIMULATION_REFUSED', message)
    },
    retries: () => retries,
    close: () => pool.destroy(),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
