import { Client } from 'undici'
import type { HttpTimes } from './http-caller.js'

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** JSON. */
  readonly body?: string
  readonly contentType?: string
}

/** `forMs` 0: each request once. */
export interface HttpRun {
  readonly requests: readonly HttpRequest[]
  readonly forMs: number
}

const LONGEST_ANSWER_MS = 120_000

// The process of `startHttpCaller`: `http-caller-process.js <origin>`.
const client = new Client(process.argv[2] ?? '', { headersTimeout: LONGEST_ANSWER_MS, bodyTimeout: LONGEST_ANSWER_MS })
process.on('message', (run: HttpRun) => {
  sendAll(run).then(
    (times) => process.send?.(times),
    (thrown: unknown) => process.send?.({ failure: String(thrown) }),
  )
})
process.once('disconnect', () => void client.destroy())

async function sendAll({ requests, forMs }: HttpRun): Promise<HttpTimes> {
  const durationsMs: number[] = []
  const end = performance.now() + forMs
  let bytes = 0
  do {
    for (const { method, path, body = null, contentType = 'application/json' } of requests) {
      const started = performance.now()
      const answer = await client.request({ method, path, body, headers: { 'content-type': contentType } })
      const text = await answer.body.arrayBuffer()
      durationsMs.push(performance.now() - started)
      bytes = text.byteLength
      if (answer.statusCode >= 300) {
        const said = Buffer.from(text).toString('utf8', 0, 500)
        throw new Error(`${method} ${path} answered ${answer.statusCode}: ${said}`)
      }
    }
  } while (performance.now() < end)
  return { durationsMs, bytes }
}
