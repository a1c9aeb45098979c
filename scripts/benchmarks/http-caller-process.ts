import { setTimeout as pause } from 'node:timers/promises'
import { Client, Pool } from 'undici'
import type { Dispatcher } from 'undici'
import type { HttpTimes } from './http-caller.js'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** JSON. */
  readonly body?: string
  readonly contentType?: string
}

/**
 * `forMs` 0: each request once. `ratePerS` 0: one after the other over each connection; else so many a second, whether answers
 * come or not.
 */
export interface HttpRun {
  readonly requests: readonly HttpRequest[]
  readonly forMs: number
  readonly ratePerS: number
  readonly connections: number
}

const LONGEST_ANSWER_MS = 120_000

// The process of `startHttpCaller`: `http-caller-process.js <origin>`.
const origin = process.argv[2] ?? ''
const timeouts = { headersTimeout: LONGEST_ANSWER_MS, bodyTimeout: LONGEST_ANSWER_MS }
const client = new Client(origin, timeouts)
const pool = new Pool(origin, { ...timeouts, connections: 32 })
process.on('message', (run: HttpRun) => {
  const sent = run.ratePerS > 0 ? sendAtRate(run) : sendAll(run)
  sent.then(
    (times) => process.send?.(times),
    (thrown: unknown) => process.send?.({ failure: String(thrown) }),
  )
})
process.once('disconnect', () => {
  void client.destroy()
  void pool.destroy()
})

async function sendAll({ requests, forMs, connections }: HttpRun): Promise<HttpTimes> {
  const durationsMs: number[] = []
  const end = performance.now() + forMs
  const clients = connections === 1 ? [client] : Array.from({ length: connections }, () => new Client(origin, timeouts))
  let bytes = 0
  let sent = 0
  const lane = async (through: Client): Promise<void> => {
    while (sent < requests.length || performance.now() < end) {
      const answer = await send(through, requests[sent++ % requests.length] as HttpRequest)
      durationsMs.push(answer.durationMs)
      bytes = answer.bytes
    }
  }
  await Promise.all(clients.map(lane))
  if (connections > 1) await Promise.all(clients.map((one) => one.close()))
  return { durationsMs, bytes }
}

async function sendAtRate({ requests, forMs, ratePerS }: HttpRun): Promise<HttpTimes> {
  const started = performance.now()
  const sent: ReturnType<typeof send>[] = []
  for (let passedMs = 0; passedMs < forMs; passedMs = performance.now() - started) {
    while (sent.length < (passedMs * ratePerS) / 1000) {
      const request = requests[sent.length % requests.length]
      if (request !== undefined) sent.push(send(pool, request))
    }
    await pause(1)
  }
  const answers = await Promise.all(sent)
  return { durationsMs: answers.map(({ durationMs }) => durationMs), bytes: answers.at(-1)?.bytes ?? 0 }
}

async function send(
  through: Dispatcher,
  { method, path, body, contentType = 'application/json' }: HttpRequest,
): Promise<{ readonly durationMs: number; readonly bytes: number }> {
  const started = performance.now()
  const answer = await through.request({ method, path, body: body ?? null, headers: { 'content-type': contentType } })
  const text = await answer.body.arrayBuffer()
  const durationMs = performance.now() - started
  if (answer.statusCode < 300) return { durationMs, bytes: text.byteLength }
  const said = Buffer.from(text).toString('utf8', 0, 500)
  throw new Error(`${method} ${path} answered ${answer.statusCode}: ${said}`)
}
