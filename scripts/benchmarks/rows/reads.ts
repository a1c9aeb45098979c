import { partitionOf } from '../../../topology/partitioner.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { deviceIds, registerDevices } from '../devices.js'
import { percentile } from '../figure.js'
import type { Figure } from '../figure.js'
import { HEARTBEAT_TOPIC, heartbeatRecord, PARTITIONS } from '../heartbeats.js'
import type { HttpRequest } from '../http-connection.js'
import { startHttpCaller } from '../http-caller.js'
import { sendAtRate } from '../send-at-rate.js'
import { startService } from '../service.js'

const DEVICES = 60_000
const RATE_PER_S = 1000
const READ_MS = 15_000
/** Prime to the number of devices: reads jump over all of them. */
const STEP = 7919
/** Read over and over. */
const READ_DEVICES = 500

/** Single reads over HTTP, one at a time, while heartbeats arrive. */
export async function reads(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const { application } = service
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  const ids = deviceIds(DEVICES)
  await registerDevices(caller, plugin.address, ids)

  let isReading = true
  const sendHeartbeat = (number: number): Promise<unknown> => {
    const cmHandle = ids[number % DEVICES] ?? ''
    const record = heartbeatRecord({ cmHandle, trustLevel: 'NONE' }, Date.now())
    return application.log.append(HEARTBEAT_TOPIC, partitionOf(cmHandle, PARTITIONS), [record])
  }
  const requests = ids.map((_, at): HttpRequest => ({
    method: 'GET',
    path: `/ncmp/v1/ch/${ids[(at * STEP) % DEVICES] ?? ''}`,
  }))
  await caller.send(requests.slice(0, 2000))
  const sent = sendAtRate({ perSecond: RATE_PER_S, send: sendHeartbeat, isOver: () => !isReading })
  const { durationsMs } = await caller.send(requests.slice(0, READ_DEVICES), READ_MS)
  isReading = false
  const rate = await sent
  caller.close()
  await plugin.close()
  await service.stop()
  const compared = `${durationsMs.length} reads of ${READ_DEVICES} handles at ${rate.toFixed(0)} heartbeats a second`
  return [
    { what: 'a read over HTTP, p50', value: percentile(durationsMs, 0.5), unit: 'ms', compared },
    { what: 'a read over HTTP, p99', value: percentile(durationsMs, 0.99), unit: 'ms', atMost: 2 },
  ]
}
