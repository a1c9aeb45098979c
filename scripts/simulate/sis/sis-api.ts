import type { Clock } from '../../../common/clock.js'
import type { ShownPlatform } from '../../commands/platform-table.js'
import type { HttpClient } from '../http-client.js'
import { latencies } from '../latencies.js'

export interface Place {
  readonly address: string
  readonly position: number
}

export interface SelectedPlace extends Place {
  readonly attemptId?: string
  readonly fallback?: Place
}

export interface Outcome {
  readonly platform: string
  readonly address: string
  readonly result: 'success' | 'failure'
  readonly cause?: string
  readonly callId: string
  readonly attemptId?: string
}

/** The part of Pulsefold's interface that SIS nodes and their operators use, and how long it took to answer. */
export interface SisApi {
  /** Makes the platform anew. */
  create(platform: { readonly name: string; readonly [parameter: string]: unknown }): Promise<void>
  remove(platform: string): Promise<void>
  show(platform: string): Promise<ShownPlatform>
  /** null: none is available. */
  select(platform: string, callId: string): Promise<SelectedPlace | null>
  /** Accepted when this resolves. */
  report(outcomes: readonly Outcome[]): Promise<void>
  readonly latencies: Readonly<Record<'selection' | 'outcome', ReturnType<typeof latencies>>>
}

const path = (platform: string): string => `/external-platforms/${encodeURIComponent(platform)}`

export function sisApi(client: HttpClient, clock: Clock, source: string): SisApi {
  const times = { selection: latencies(), outcome: latencies() }
  let events = 0
  const begun = clock.now()
  return {
    latencies: times,
    async create(platform) {
      await client.ask('DELETE', path(platform.name))
      await client.expect(201, 'POST', '/external-platforms', { body: platform })
    },
    async remove(platform) {
      await client.expect(204, 'DELETE', path(platform))
    },
    async show(platform) {
      return (await client.expect(200, 'GET', path(platform))).body as ShownPlatform
    },
    async select(platform, callId) {
      const answer = await client.ask('POST', `${path(platform)}/selections`, { body: { callId }, isAskedOnce: true })
      times.selection.add(answer.durationMs)
      return answer.status === 200 ? (answer.body as SelectedPlace) : null
    },
    async report(outcomes) {
      const body = outcomes.map((data) => ({
        specversion: '1.0',
        // Of this run: the ids of one before count for repeats.
        id: `${begun}-${++events}`,
        source,
        type: 'com.opencloud.sis.call-outcome',
        data,
      }))
      const headers = { 'content-type': 'application/cloudevents-batch+json' }
      const answer = await client.expect(202, 'POST', '/events', { body, headers })
      times.outcome.add(answer.durationMs)
    },
  }
}
