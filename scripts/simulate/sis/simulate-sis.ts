import { sleep } from '../../../common/clock.js'
import { httpClient } from '../http-client.js'
import { seededRandom } from '../../../common/random.js'
import type { SimulateContext } from '../simulate.js'
import { callsToFailed, compareMoves } from './observation.js'
import type { PlacedCall, SeenState } from './observation.js'
import { isDown, plannedAddressOutages } from './plan.js'
import type { SisPlanOptions } from './plan.js'
import type { SisReport } from './report.js'
import { sisApi } from './sis-api.js'
import type { Outcome, Place } from './sis-api.js'

export interface SimulateSisOptions extends SisPlanOptions {
  /** Of a running Pulsefold on loopback. */
  readonly url: string
  /** SIS nodes; each calls all platforms. */
  readonly nodes: number
  /** Calls a second of each node. */
  readonly rate: number
  /** Remove the platforms at the end. */
  readonly cleanUp: boolean
}

const POLL_MS = 100

/**
 * Plays SIS nodes that call through selections, in real time, against addresses that fail and recover by a seeded script;
 * compares how Pulsefold moved the addresses with the script, and tells of calls that went to a failed one. Rejects with
 * SimulationError when the target is not on loopback, does not answer or refuses what every Pulsefold offers.
 */
export async function simulateSis(options: SimulateSisOptions, context: SimulateContext): Promise<SisReport> {
  const { clock, progress } = context
  const ended = new AbortController()
  const signal = AbortSignal.any([context.signal, ended.signal])
  const client = httpClient(options.url, clock, signal)
  const api = sisApi(client, clock, `urn:pulsefold:simulation:${options.seed}`)
  const outages = plannedAddressOutages(options, seededRandom(options.seed))
  const names = Array.from({ length: options.platforms }, (_, at) => `simulated-${options.seed}-${at + 1}`)
  const addressOf = (position: number): string => `10.0.0.${position + 1}:5060`
  const numbers = { calls: 0, retries: 0, failed: 0, unserved: 0 }
  const calls: PlacedCall[] = []
  const seen: SeenState[] = []
  try {
    progress.step('creating platforms')
    const { detectIntervalMs: detectInterval, retryIntervalMs: retryInterval, retryAttempts } = options
    const addresses = Array.from({ length: options.addresses }, (_, position) => addressOf(position))
    for (const name of names) {
      await api.create({ name, selectionMode: 'ROUND_ROBIN', detectInterval, retryInterval, retryAttempts, addresses })
    }
    progress.step('calling')
    const started = clock.monotonic()
    const startedAt = clock.now()
    const passedMs = (): number => clock.monotonic() - started

    const call = async (node: number, platform: number): Promise<void> => {
      const name = names[platform] ?? ''
      const callId = `node-${node}-call-${++numbers.calls}`
      const askedMs = passedMs()
      const place = await api.select(name, callId)
      if (place === null) {
        numbers.unserved++
        return
      }
      const { attemptId, fallback } = place
      const isRetry = attemptId !== undefined
      if (isRetry) numbers.retries++
      calls.push({ platform, position: place.position, isRetry, askedMs })
      const outcomeAt = ({ address, position }: Place): Outcome => {
        const hasFailed = isDown(outages, platform, position, passedMs())
        if (!hasFailed) return { platform: name, address, result: 'success', callId }
        numbers.failed++
        return { platform: name, address, result: 'failure', cause: 'timeout', callId }
      }
      const first = { ...outcomeAt(place), ...(attemptId !== undefined && { attemptId }) }
      const second = first.result === 'failure' && fallback !== undefined ? [outcomeAt(fallback)] : []
      await api.report([first, ...second])
    }

    const node = async (number: number): Promise<void> => {
      for (let made = 0; passedMs() < options.durationMs; made++) {
        const dueMs = (made * 1000) / options.rate
        if (dueMs > passedMs()) await sleep(clock, dueMs - passedMs(), signal)
        await call(number, (made + number) % options.platforms)
        if (number === 0) progress.update(Math.floor(Math.min(options.durationMs, passedMs()) / 1000))
      }
    }

    const watch = async (): Promise<void> => {
      const last = new Map<string, string>()
      while (passedMs() < options.durationMs) {
        for (const [platform, name] of names.entries()) {
          for (const { position, state, since } of (await api.show(name)).addresses) {
            const key = `${platform}/${position}`
            if (last.get(key) === state + since) continue
            last.set(key, state + since)
            seen.push({ platform, position, state, sinceMs: Date.parse(since) - startedAt })
          }
        }
        await sleep(clock, POLL_MS, signal)
      }
    }

    await Promise.all([watch(), ...Array.from({ length: options.nodes }, (_, number) => node(number))])
    if (options.cleanUp) for (const name of names) await api.remove(name)
    const shown = (platform: number, position: number): string => `${names[platform] ?? ''} ${addressOf(position)}`
    return {
      url: options.url,
      seed: options.seed,
      durationMs: passedMs(),
      ...numbers,
      ...compareMoves(options, outages, seen, shown),
      toFailed: callsToFailed(calls, seen).map(({ platform, position }) => shown(platform, position)),
      latencies: { selection: api.latencies.selection.summary(), outcome: api.latencies.outcome.summary() },
    }
  } finally {
    ended.abort()
    await client.close()
  }
}
