import { request as httpRequest } from 'undici'
import type { Clock } from '../../../common/clock.js'
import type { Effector, JournalEvent } from '../../../topology/processor.js'
import { ALERTMANAGER_POST } from './alertmanager-request.js'
import type { AlertmanagerRequest } from './alertmanager-request.js'

export interface AlertmanagerOptions {
  readonly clock: Clock
  /** Address of an Alertmanager, below which its v2 API is; empty: it is switched off, and nothing is called. */
  readonly url: string
  /** For one post. */
  readonly deadlineMs: number
}

const MAX_BODY_BYTES = 64 * 1024
/** The post ends itself at its deadline; whoever waits for it gives it this much longer. */
const MARGIN_MS = 500

/**
 * Tells an Alertmanager the wanted state of one alarm (`POST /api/v2/alerts`): telling it twice changes nothing. Anything but 2xx
 * in time is a post that failed, with the reason in words; `perform` rejects only when `signal` is aborted.
 */
export function alertmanager({ clock, url, deadlineMs }: AlertmanagerOptions): Effector {
  return {
    kind: ALERTMANAGER_POST,
    deadlineMs: deadlineMs + MARGIN_MS,
    async perform(request, signal) {
      signal.throwIfAborted()
      const wanted = request.payload as AlertmanagerRequest
      if (url === '') return result(wanted.alarm, false, 'Alertmanager is switched off')
      const ended = new AbortController()
      const stop = (): void => ended.abort()
      signal.addEventListener('abort', stop, { once: true })
      const cancelDeadline = clock.setTimer(stop, deadlineMs)
      try {
        const { statusCode, body } = await httpRequest(`${url.replace(/\/+$/, '')}/api/v2/alerts`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([alertOf(wanted)]),
          signal: ended.signal,
        })
        await body.dump({ limit: MAX_BODY_BYTES })
        return result(wanted.alarm, statusCode >= 200 && statusCode < 300, `answered ${statusCode}`)
      } catch (error) {
        signal.throwIfAborted()
        const reason = ended.signal.aborted ? `no answer within ${deadlineMs} ms` : `no HTTP answer (${codeOf(error)})`
        return result(wanted.alarm, false, reason)
      } finally {
        cancelDeadline()
        signal.removeEventListener('abort', stop)
      }
    },
  }
}

/** Labels are what names an alert; a position may shift, so it is none. */
function alertOf({ platform, address, startsAt, endsAt, text }: AlertmanagerRequest): object {
  const alertname = address === '' ? 'ExternalPlatformWithoutAddress' : 'ExternalAddressFailed'
  return {
    labels: { alertname, source: 'pulsefold', platform, ...(address !== '' && { address }) },
    annotations: { description: text },
    startsAt: new Date(startsAt).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
  }
}

function result(alarm: string, posted: boolean, reason: string): JournalEvent {
  return { type: 'AlarmPosted', data: { alarm, posted, reason } }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown failure'
}
