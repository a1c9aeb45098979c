import type { Clock } from '../../common/clock.js'
import { cut } from '../../common/errors.js'
import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import { SimulationError } from './errors.js'
import type { HttpClient } from './http-client.js'
import { latencies } from './latencies.js'

/** Most handles of one registration request. */
export const REGISTRATION_BATCH = 2000

/** The part of Pulsefold's interface that plugins and NCMP clients use, and how long it took to answer. */
export interface PulsefoldApi {
  /** Registers handles of a plugin; those that a run before has left are replaced. */
  register(plugin: string, cmHandles: readonly string[]): Promise<void>
  remove(plugin: string, cmHandles: readonly string[]): Promise<void>
  /** Sends heartbeats as one batch; accepted when this resolves. */
  report(heartbeats: readonly { readonly cmHandle: string; readonly trustLevel: TrustLevel }[]): Promise<void>
  /** What Pulsefold thinks of a plugin; undefined: it does not know it. */
  pluginLevel(plugin: string): Promise<TrustLevel | undefined>
  /** Ids of all handles with that level, as of all heartbeats reported so far. */
  search(trustLevel: TrustLevel): Promise<readonly string[]>
  /** The level of one handle, as of all heartbeats reported so far. */
  read(cmHandle: string): Promise<string>
  readonly latencies: Readonly<Record<'registration' | 'heartbeats' | 'search' | 'read', ReturnType<typeof latencies>>>
}

interface RegistrationFailures {
  readonly failedCreatedCmHandles?: readonly { readonly cmHandle: string; readonly errorCode: string }[]
}

const ALREADY_DEFINED = '109'

export function pulsefoldApi(client: HttpClient, clock: Clock, source: string): PulsefoldApi {
  const taken = new Map<string, { topic: string; partition: number; offset: number }>()
  const times = { registration: latencies(), heartbeats: latencies(), search: latencies(), read: latencies() }

  const changeHandles = async (plugin: string, removed: readonly string[], created: readonly string[]) => {
    const body = {
      dmiPlugin: plugin,
      removedCmHandles: removed,
      createdCmHandles: created.map((cmHandle) => ({ cmHandle })),
    }
    const answer = await client.ask('POST', '/ncmpInventory/v1/ch', { body })
    times.registration.add(answer.durationMs)
    return answer
  }

  /** The position up to which a read must be: the highest of each partition that our heartbeats went to. */
  const asOfHeartbeats = (): Record<string, string> => {
    const positions = [...taken.values()].map(({ topic, partition, offset }) => `${topic}/${partition}/${offset}`)
    return positions.length === 0 ? {} : { 'x-pulsefold-min-position': positions.join(',') }
  }

  return {
    latencies: times,
    async register(plugin, cmHandles) {
      const answer = await changeHandles(plugin, [], cmHandles)
      if (answer.status === 200) return
      const failures = (answer.body as RegistrationFailures | null)?.failedCreatedCmHandles ?? []
      const known = failures.filter(({ errorCode }) => errorCode === ALREADY_DEFINED).map(({ cmHandle }) => cmHandle)
      const isReplaceable = known.length > 0 && known.length === failures.length
      const repeated = isReplaceable ? await changeHandles(plugin, known, known) : answer
      if (repeated.status !== 200) {
        const message = `the registration answered ${repeated.status}: ${cut(repeated.body, 500)}`
        throw new SimulationError('SIMULATION_REFUSED', message)
      }
    },
    async remove(plugin, cmHandles) {
      await changeHandles(plugin, cmHandles, [])
    },
    async report(heartbeats) {
      const time = new Date(clock.now()).toISOString()
      const body = heartbeats.map(({ cmHandle, trustLevel }) => ({
        specversion: '1.0',
        type: 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel',
        source,
        id: cmHandle,
        time,
        datacontenttype: 'application/json',
        data: { data: { trustLevel } },
      }))
      const headers = { 'content-type': 'application/cloudevents-batch+json' }
      const answer = await client.expect(202, 'POST', '/events', { body, headers })
      times.heartbeats.add(answer.durationMs)
      const { positions } = answer.body as { positions: { topic: string; partition: number; offset: number }[] }
      for (const position of positions) {
        const partition = `${position.topic}/${position.partition}`
        if (position.offset >= (taken.get(partition)?.offset ?? 0)) taken.set(partition, position)
      }
    },
    async pluginLevel(plugin) {
      const answer = await client.expect(200, 'GET', '/ops/dmi-plugins')
      const plugins = answer.body as { plugin: string; trustLevel: TrustLevel }[]
      return plugins.find((known) => known.plugin === plugin)?.trustLevel
    },
    async search(trustLevel) {
      const condition = { conditionName: 'cmHandleWithTrustLevel', conditionParameters: [{ trustLevel }] }
      const answer = await client.expect(200, 'POST', '/ncmp/v1/ch/id-searches', {
        body: { cmHandleQueryParameters: [condition] },
        headers: asOfHeartbeats(),
      })
      times.search.add(answer.durationMs)
      return answer.body as string[]
    },
    async read(cmHandle) {
      const path = `/ncmp/v1/ch/${encodeURIComponent(cmHandle)}`
      const answer = await client.expect(200, 'GET', path, { headers: asOfHeartbeats() })
      times.read.add(answer.durationMs)
      return (answer.body as { trustLevel: string }).trustLevel
    },
  }
}
