import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { HttpRun } from './http-caller-process.js'
import type { HttpRequest } from './http-connection.js'

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
  /** As `send`, so many at a time, each over a connection of its own. */
  sendAtOnce(requests: readonly HttpRequest[], forMs: number, connections: number): Promise<HttpTimes>
  close(): void
}

export function startHttpCaller(origin: string): HttpCaller {
  const child = fork(new URL('http-caller-process.js', import.meta.url), [origin])
  async function run(sent: HttpRun): Promise<HttpTimes> {
    child.send(sent)
    const [answer] = (await once(child, 'message')) as [HttpTimes | { readonly failure: string }]
    if ('failure' in answer) throw new Error(answer.failure)
    return answer
  }
  return {
    send: (requests, forMs = 0, ratePerS = 0) => run({ requests, forMs, ratePerS, connections: 1 }),
    sendAtOnce: (requests, forMs, connections) => run({ requests, forMs, ratePerS: 0, connections }),
    close: () => child.disconnect(),
  }
}
