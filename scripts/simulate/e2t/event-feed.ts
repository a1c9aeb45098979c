import type { Readable } from 'node:stream'
import { Pool } from 'undici'
import { sleep } from '../../../common/clock.js'
import type { Clock } from '../../../common/clock.js'

/** A record as the feed of an output topic tells it. */
export interface FeedRecord {
  readonly headers: Readonly<Record<string, string>>
  readonly value: string | null
}

const RECONNECT_MS = 200

/** Follows a feed of server-sent events from now on, until the signal is aborted; a lost one goes on where it broke off. */
export async function followFeed(
  options: { readonly url: string; readonly path: string; readonly clock: Clock; readonly signal: AbortSignal },
  onRecord: (record: FeedRecord) => void,
): Promise<void> {
  const { url, path, clock, signal } = options
  const pool = new Pool(url, { connections: 1, bodyTimeout: 0 })
  let lastEventId: string | undefined
  while (!signal.aborted) {
    try {
      const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId }
      const { body, statusCode } = await pool.request({ method: 'GET', path, headers, signal })
      if (statusCode !== 200) throw new Error(`answered ${statusCode}`)
      for await (const { id, data } of eventsOf(body)) {
        lastEventId = id
        onRecord(JSON.parse(data) as FeedRecord)
      }
    } catch {
      // The service is down or has been stopped: it is asked again.
    }
    await sleep(clock, RECONNECT_MS, signal)
  }
  await pool.destroy()
}

async function* eventsOf(body: Readable): AsyncGenerator<{ readonly id: string; readonly data: string }> {
  let text = ''
  for await (const chunk of body.setEncoding('utf8')) {
    text += String(chunk)
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end)
      text = text.slice(end + 2)
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield { id: /^id: (.*)$/m.exec(event)?.[1] ?? '', data }
    }
  }
}
