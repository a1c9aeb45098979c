import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import type { Heartbeat } from '../heartbeats.js'
import type { HttpRequest } from '../http-connection.js'
import { startHttpCaller } from '../http-caller.js'
import { startServerProcess } from '../server-process.js'
import type { Memory } from '../server-process.js'

const FEW = 60_000
const MANY = 600_000
const STEADY_BATCH = 100
const STEADY_BATCHES_PER_S = 10
const STEADY_S = 20
const LARGE_BATCH = 10_000
const IDLE_MS = 5000
const MEBIBYTE = 1024 * 1024
const CACHE = 32 * MEBIBYTE
const LARGE_CACHE = 128 * MEBIBYTE

/** Resident memory of a server with few and with many devices, and with a larger cache. */
export async function memory(directory: string): Promise<readonly Figure[]> {
  const plugin = await startDmiPlugin()
  const few = await measure(join(directory, 'few'), FEW, CACHE, plugin.address)
  const many = await measure(join(directory, 'many'), MANY, CACHE, plugin.address)
  const large = await measure(join(directory, 'many'), MANY, LARGE_CACHE, null)
  await plugin.close()
  const grown = `times ${(many.now / few.now).toFixed(2)} for ten times the devices, same cache setting`
  return [
    { what: `${FEW} devices, after steady heartbeats, idle`, value: few.now, unit: 'MB', atMost: 300 },
    { what: `${FEW} devices, at most, registration included`, value: few.peak, unit: 'MB' },
    { what: `${MANY} devices, likewise, idle`, value: many.now, unit: 'MB', atMost: few.now * 1.25, compared: grown },
    { what: `${MANY} devices, at most, registration included`, value: many.peak, unit: 'MB' },
    {
      what: `${MANY} devices with 96 MiB more of state cache, idle`,
      value: large.now,
      unit: 'MB',
      compared: `${(large.now - many.now).toFixed(0)} MB more`,
    },
  ]
}

/** `plugin` null: the devices are registered already. */
async function measure(dataDir: string, devices: number, cacheBytes: number, plugin: string | null): Promise<Memory> {
  const server = await startServerProcess(dataDir, [`--state-cache-bytes=${cacheBytes}`])
  const caller = startHttpCaller(server.url)
  const ids = deviceIds(devices)
  if (plugin !== null) await registerDevices(caller, plugin, ids)
  // One of each device, so that the cache is as full as it gets; then at a steady pace.
  for (let at = 0; at < devices; at += LARGE_BATCH) {
    await caller.send([batchRequest(ids.slice(at, at + LARGE_BATCH).map(complete))])
  }
  const started = performance.now()
  for (let batch = 0; batch < STEADY_S * STEADY_BATCHES_PER_S; batch++) {
    await pause(started + (batch * 1000) / STEADY_BATCHES_PER_S - performance.now())
    const some = ids.slice(batch * STEADY_BATCH, (batch + 1) * STEADY_BATCH)
    await caller.send([batchRequest(some.map((cmHandle) => ({ cmHandle, trustLevel: 'NONE' })))])
  }
  await pause(IDLE_MS)
  const measured = await server.memory()
  caller.close()
  await server.stop()
  return measured
}

const complete = (cmHandle: string): Heartbeat => ({ cmHandle, trustLevel: 'COMPLETE' })

function batchRequest(heartbeats: readonly Heartbeat[]): HttpRequest {
  const time = new Date().toISOString()
  const body = heartbeats.map(({ cmHandle, trustLevel }) => ({
    specversion: '1.0',
    type: 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel',
    source: 'bench',
    id: cmHandle,
    time,
    data: { data: { trustLevel } },
  }))
  const contentType = 'application/cloudevents-batch+json'
  return { method: 'POST', path: '/events', body: JSON.stringify(body), contentType }
}
