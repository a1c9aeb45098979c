import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { HttpRequest, HttpRun } from './http-caller-process.js'

/** What a run of requests took. */
export interface HttpTimes {
  /** ms of each answer, to its last byte. */
  readonly durationsMs: readonly number[]
  /** Bytes of the last answer. */
  readonly bytes: number
}

/** A client in a process of its own, as callers are. */
export interface HttpCaller {
  /**
   * Sends the requests in turn: each once, or over and over for a while; one at a time over one connection, or at a rate over
   * many. Rejects when one is not answered with 2xx.
   */
  send(requests: readonly HttpRequest[], forMs?: number, ratePerS?: number): Promise<HttpTimes>
  close(): void
}

export function startHttpCaller(origin: string): HttpCaller {
  const child = fork(new URL('http-caller-process.js', import.meta.url), [origin])
  return {
    async send(requests, forMs = 0, ratePerS = 0) {
      child.send({ requests, forMs, ratePerS } satisfies HttpRun)
      const [answer] = (await once(child, 'message')) as [HttpTimes | { readonly failure: string }]
      if ('failure' in answer) throw new Error(answer.failure)
      return answer
    },
    close: () => child.disconnect(),
  }
}
