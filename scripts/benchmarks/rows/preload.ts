import { join } from 'node:path'
import { systemClock } from '../../../common/clock.js'
import { rocksDbProvider } from '../../../state-stores/rocksdb/provider.js'
import { openEmbeddedLogAt } from '../../../topology/log/embedded/embedded-log.js'
import { Mirror } from '../../../topology/preload/mirror.js'
import { Preload } from '../../../topology/preload/preload.js'
import { serveHistory } from '../../../topology/preload/serve-history.js'
import { ownTopics } from '../../../topology/topics.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { DOMAIN } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import { sendHalfChanged } from '../half-changed-rounds.js'
import { PARTITIONS } from '../heartbeats.js'
import { startHttpCaller } from '../http-caller.js'
import { startService } from '../service.js'

const DEVICES = 60_000
/** A fifth of three hours of full load. */
const ROUNDS = 36
const FULL_LOAD_EVENTS = 10_800_000
const APPLICATION = 'pulsefold'
const ROW_CACHE_BYTES = 32 * 1024 * 1024
const MEGABYTE = 1024 * 1024
const never = new AbortController().signal

/** The stores of a waiting site loaded from the mirror of a journal that the active site has written. */
export async function preload(directory: string): Promise<readonly Figure[]> {
  const service = await startService(join(directory, 'active'))
  const { application } = service
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  const ids = deviceIds(DEVICES)
  await registerDevices(caller, plugin.address, ids)
  await sendHalfChanged(application, ids, ROUNDS)
  caller.close()
  await plugin.close()
  const { processors } = application
  const stores = rocksDbProvider({ directory: join(directory, 'waiting') })
  const log = await openEmbeddedLogAt(stores, 'log', {
    clock: systemClock,
    newIncarnation: () => 'waiting',
    onCleanError: fail,
  })
  const topics = { applicationId: APPLICATION, partitions: PARTITIONS, journalRetentionMs: -1 }
  await log.createTopics(ownTopics(processors, topics))
  const mirror = new Mirror({
    log,
    clock: systemClock,
    site: 'primary',
    applicationId: APPLICATION,
    domains: processors.map(({ name }) => name),
    partitions: PARTITIONS,
    retentionMs: -1,
    readPeer: (wanted) => serveHistory({ log: application.log, clock: systemClock }, wanted, 0, never),
    onError: fail,
  })
  await mirror.open()
  const mirrored = performance.now()
  while (mirror.completeAt === undefined) await mirror.pull(never)
  const mirrorMs = performance.now() - mirrored
  const expected = new Map<number, string>()
  for (const task of application.tasks.filter(({ processor }) => processor.name === DOMAIN)) {
    await task.commit({ changelog: false })
    expected.set(task.partition, task.digest.withoutPositions.toHex())
  }
  await service.stop()

  const started = performance.now()
  const cpuBefore = process.cpuUsage()
  const load = await Preload.open({
    log,
    stores,
    clock: systemClock,
    processors,
    applicationId: APPLICATION,
    partitions: PARTITIONS,
    site: 'secondary',
    peerJournal: (domain, partition) => mirror.source(domain, partition),
    load: '2-1',
    rowCacheBytes: ROW_CACHE_BYTES,
    onError: fail,
  })
  const memoryBefore = process.memoryUsage.rss()
  await load.load(never)
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(cpuBefore)
  const memory = process.memoryUsage.rss() - memoryBefore
  const { entries } = load
  for (const { processor, partition, digest } of load.loads) {
    if (processor.name === DOMAIN && digest.withoutPositions.toHex() !== expected.get(partition)) {
      throw new Error(`partition ${partition} is loaded to another state`)
    }
  }
  const finishing = performance.now()
  await load.finish()
  const finishMs = performance.now() - finishing
  await log.close()
  const what = `pre-load of ${entries} events, ${PARTITIONS} partitions, into cleared stores`
  const fullMs = (ms * FULL_LOAD_EVENTS) / entries
  return [
    { what, value: (entries / ms) * 1000, unit: '/s', atLeast: 150_000 },
    { what: 'three hours of full load at that rate', value: fullMs, unit: 'ms', atMost: 75_000 },
    { what: 'CPU time of the pre-load', value: (user + system) / 1000, unit: 'ms', compared: `of ${ms.toFixed(0)} ms` },
    { what: 'memory grown by the pre-load', value: memory / MEGABYTE, unit: 'MB', atMost: 300 },
    { what: 'leaving the stores to their tasks', value: finishMs, unit: 'ms' },
    { what: 'copying the mirror', value: (entries / mirrorMs) * 1000, unit: '/s', compared: 'without HTTP' },
  ]
}

function fail(error: Error): never {
  throw error
}
