import type { HttpTimes } from './http-caller.js'
import { HttpConnection } from './http-connection.js'
import type { HttpAnswer, HttpRequest } from './http-connection.js'
import { sendAtRate } from './send-at-rate.js'

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

/** For requests at a rate; of more under way at a time, those that come last wait. */
const POOLED = 32

// The process of `startHttpCaller`: `http-caller-process.js <origin>`.
const origin = process.argv[2] ?? ''
const written = new WeakMap<HttpRequest, Buffer>()
const client = new HttpConnection(origin, written)
const pool = Array.from({ length: POOLED }, () => new HttpConnection(origin, written))
const idle = [...pool]
const waiting: ((idle: HttpConnection) => void)[] = []
process.on('message', (run: HttpRun) => {
  const sent = run.ratePerS > 0 ? sendSteadily(run) : sendAll(run)
  sent.then(
    (times) => process.send?.(times),
    (thrown: unknown) => process.send?.({ failure: String(thrown) }),
  )
})
process.once('disconnect', () => {
  for (const connection of [client, ...pool]) connection.close()
})

async function sendAll({ requests, forMs, connections }: HttpRun): Promise<HttpTimes> {
  const durationsMs: number[] = []
  const end = performance.now() + forMs
  const opened = Array.from({ length: connections - 1 }, () => new HttpConnection(origin, written))
  let bytes = 0
  let sent = 0
  const lane = async (through: HttpConnection): Promise<void> => {
    while (sent < requests.length || performance.now() < end) {
      const answer = await through.send(requests[sent++ % requests.length] as HttpRequest)
      durationsMs.push(answer.durationMs)
      bytes = answer.bytes
    }
  }
  try {
    await Promise.all([client, ...opened].map(lane))
  } finally {
    for (const connection of opened) connection.close()
  }
  return { durationsMs, bytes }
}

async function sendSteadily({ requests, forMs, ratePerS }: HttpRun): Promise<HttpTimes> {
  const durationsMs: number[] = []
  let bytes = 0
  const end = performance.now() + forMs
  await sendAtRate({
    perSecond: ratePerS,
    async send(number) {
      const answer = await sendPooled(requests[number % requests.length] as HttpRequest)
      durationsMs.push(answer.durationMs)
      bytes = answer.bytes
    },
    isOver: () => performance.now() >= end,
  })
  return { durationsMs, bytes }
}

/** The wait for an idle connection counts. */
async function sendPooled(request: HttpRequest): Promise<HttpAnswer> {
  const startedAt = performance.now()
  const through = idle.pop() ?? (await new Promise<HttpConnection>((resolve) => waiting.push(resolve)))
  const waitedMs = performance.now() - startedAt
  const { durationMs, bytes } = await through.send(request)
  const next = waiting.shift()
  if (next === undefined) idle.push(through)
  else next(through)
  return { durationMs: waitedMs + durationMs, bytes }
}
