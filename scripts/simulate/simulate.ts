import { sleep, type Clock } from '../../common/clock.js'
import { compareReads, compareSearches } from './comparison.js'
import { startDmiPlugin, type DmiPlugin } from './dmi-plugin.js'
import { httpClient } from './http-client.js'
import { plannedDevices, plannedOutages, type PlanOptions, type SimulatedDevice } from './plan.js'
import type { Progress } from './progress.js'
import { pulsefoldApi, REGISTRATION_BATCH } from './pulsefold-api.js'
import { seededRandom } from '../../common/random.js'
import type { Report } from './report.js'
import { playOutage, sendHeartbeats, startRun } from './traffic.js'

export interface SimulateOptions extends PlanOptions {
  /** Of a running Pulsefold on loopback. */
  readonly url: string
  /** Remove the devices at the end. */
  readonly cleanUp: boolean
}

export interface SimulateContext {
  readonly clock: Clock
  /** Ends the run early; it then rejects. */
  readonly signal: AbortSignal
  readonly progress: Progress
}

/** All levels after a plugin's change are right within this. (trust levels, section 0) */
const SETTLED_AFTER_MS = 1000

/**
 * Plays DMI plugins and their devices to a running Pulsefold, in real time, and compares what it answers in the end with
 * what it was told. Ends by itself, at most two minutes after `durationMs`. Rejects with SimulationError when the
 * target is not on loopback, does not answer or refuses what every Pulsefold offers.
 */
export async function simulateTrustLevels(options: SimulateOptions, context: SimulateContext): Promise<Report> {
  const { clock, progress } = context
  const ended = new AbortController()
  const signal = AbortSignal.any([context.signal, ended.signal])
  const client = httpClient(options.url, clock, signal)
  const plugins: DmiPlugin[] = []
  try {
    progress.step('starting')
    await client.expect(200, 'GET', '/actuator/health')
    while (plugins.length < options.plugins) plugins.push(await startDmiPlugin())
    const api = pulsefoldApi(client, clock, `urn:pulsefold:simulation:${options.seed}`)
    const devices = plannedDevices(options)
    await eachBatch(devices, plugins, async (plugin, cmHandles, done) => {
      progress.step(`registering devices: ${done} of ${devices.length}`)
      await api.register(plugin, cmHandles)
    })

    progress.step('sending')
    const run = startRun({ clock, signal, progress, options, api, plugins, devices })
    const outages = plannedOutages(options, seededRandom(options.seed + 1))
    const [, outageReports] = await Promise.all([
      sendHeartbeats(run),
      Promise.all(outages.map((outage) => playOutage(run, outage))),
    ])
    await sleep(clock, SETTLED_AFTER_MS, signal)
    progress.step('asking')
    const searches = await compareSearches(run)
    const reads = await compareReads(run)
    if (options.cleanUp) {
      await eachBatch(devices, plugins, async (plugin, cmHandles, done) => {
        progress.step(`removing devices: ${done} of ${devices.length}`)
        await api.remove(plugin, cmHandles)
      })
    }
    return {
      url: options.url,
      seed: options.seed,
      devices: options.devices,
      plugins: options.plugins,
      durationMs: clock.monotonic() - run.startedMs,
      heartbeats: run.sent,
      retries: client.retries(),
      outages: outageReports,
      searches,
      reads,
      latencies: Object.fromEntries(Object.entries(api.latencies).map(([what, sample]) => [what, sample.summary()])),
    }
  } finally {
    ended.abort()
    await Promise.all(plugins.map((plugin) => plugin.close()))
    await client.close()
  }
}

/** All devices, plugin by plugin, in batches of a registration. `done` counts those before. */
async function eachBatch(
  devices: readonly SimulatedDevice[],
  plugins: readonly DmiPlugin[],
  run: (plugin: string, cmHandles: readonly string[], done: number) => Promise<void>,
): Promise<void> {
  let done = 0
  for (const [index, { address }] of plugins.entries()) {
    const cmHandles = devices.filter(({ plugin }) => plugin === index).map(({ cmHandle }) => cmHandle)
    for (let from = 0; from < cmHandles.length; from += REGISTRATION_BATCH) {
      const batch = cmHandles.slice(from, from + REGISTRATION_BATCH)
      await run(address, batch, done)
      done += batch.length
    }
  }
}
