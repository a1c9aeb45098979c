import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { countNotices, expectLevels, until, untilReadable } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import { byPartition, halfChanged, HEARTBEAT_TOPIC, PARTITIONS } from '../heartbeats.js'
import { startHttpCaller } from '../http-caller.js'
import { startService } from '../service.js'
import { appendAndRead } from './raw.js'

const DEVICES = 60_000
const CHANGES = DEVICES / 2

/** All devices report at once over the log, half of them a change. */
export async function burst(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const { application } = service
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  const ids = deviceIds(DEVICES)
  await registerDevices(caller, plugin.address, ids)
  const timeMs = Date.now()
  const heartbeats = halfChanged(ids, 'NONE')
  const records = byPartition(heartbeats, timeMs)
  const raw = await appendAndRead(application.log, records)
  const noticesBefore = await countNotices(application, PARTITIONS)

  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  const appended = Promise.all(
    records.map((some, partition) => application.log.append(HEARTBEAT_TOPIC, partition, some)),
  ).then(() => performance.now() - started)
  await untilReadable(application, records, timeMs)
  const foldedMs = performance.now() - started
  await until(async () => (await countNotices(application, PARTITIONS)) >= noticesBefore + CHANGES)
  const noticesMs = performance.now() - started
  const { user, system } = process.cpuUsage(cpuBefore)
  const appendMs = await appended

  await expectLevels(application, heartbeats)
  const notices = (await countNotices(application, PARTITIONS)) - noticesBefore
  if (notices !== CHANGES) throw new Error(`${notices} notices of ${CHANGES} changes`)
  caller.close()
  await plugin.close()
  await service.stop()
  const rawMs = raw.appendMs + raw.readMs
  return [
    { what: `${DEVICES} heartbeats appended, acknowledged`, value: appendMs, unit: 'ms' },
    {
      what: `${DEVICES} heartbeats folded and readable`,
      value: foldedMs,
      unit: 'ms',
      atMost: 1000,
      compared: `${(foldedMs / rawMs).toFixed(1)} times append and read of the same records without processing`,
    },
    { what: `their ${CHANGES} notices out, after that`, value: noticesMs - foldedMs, unit: 'ms', atMost: 1000 },
    { what: 'CPU time of all this', value: (user + system) / 1000, unit: 'ms' },
  ]
}
