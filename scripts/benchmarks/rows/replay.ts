import { join } from 'node:path'
import { rocksDbProvider } from '../../../state-stores/rocksdb/provider.js'
import type { Application } from '../../../topology/application.js'
import { replay } from '../../../topology/replay.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { DOMAIN, untilReadable } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import { byPartition, halfChanged, HEARTBEAT_TOPIC, PARTITIONS } from '../heartbeats.js'
import { startHttpCaller } from '../http-caller.js'
import { startService } from '../service.js'

const DEVICES = 60_000
const ROUNDS = 20
const ROW_CACHE_BYTES = 1024 * 1024

/** A journal of many heartbeats, written by the service itself, folded again into empty stores. */
export async function replayed(directory: string): Promise<readonly Figure[]> {
  const service = await startService(join(directory, 'service'))
  const { application } = service
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  const ids = deviceIds(DEVICES)
  await registerDevices(caller, plugin.address, ids)
  for (let round = 0; round < ROUNDS; round++) {
    const timeMs = Date.now()
    const records = byPartition(halfChanged(ids, round % 2 === 0 ? 'NONE' : 'COMPLETE'), timeMs)
    await Promise.all(records.map((some, partition) => application.log.append(HEARTBEAT_TOPIC, partition, some)))
    await untilReadable(application, records, timeMs)
  }
  caller.close()

  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  let entries = 0
  for (let partition = 0; partition < PARTITIONS; partition++) {
    entries += await replayPartition(application, partition, join(directory, 'replayed'))
  }
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(cpuBefore)
  await plugin.close()
  await service.stop()
  const what = `journal of ${entries} events, ${PARTITIONS} partitions, replayed into empty stores`
  return [
    { what, value: (entries / ms) * 1000, unit: '/s', atLeast: 300_000 },
    { what: 'CPU time of the replay', value: (user + system) / 1000, unit: 'ms', compared: `of ${ms.toFixed(0)} ms` },
  ]
}

/** Throws unless the replay ends in the state that the task has. */
async function replayPartition(application: Application, partition: number, directory: string): Promise<number> {
  const task = application.tasks.find((candidate) => candidate.partition === partition)
  if (task === undefined) throw new Error(`no task for partition ${partition}`)
  await task.commit({ changelog: false })
  const to = task.committedOffset
  const expected = task.digest.rows.toHex()
  const store = await rocksDbProvider({ directory }).open(`${DOMAIN}-${partition}`)
  const { entries, digest } = await replay({
    log: application.log,
    processor: task.processor,
    journal: { topic: application.journal(DOMAIN).topic, partition },
    store,
    rowCacheBytes: ROW_CACHE_BYTES,
    to,
  })
  await store.close()
  if (digest.rows.toHex() !== expected) throw new Error(`partition ${partition} is replayed to another state`)
  return entries
}
