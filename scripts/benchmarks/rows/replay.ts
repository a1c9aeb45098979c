import { setFlagsFromString } from 'node:v8'
import { settingsWith } from '../../../common/settings.js'
import type { Audit } from '../../../topology/audit/audit.js'
import { replayJournals } from '../../../topology/audit/replay-journals.js'
import type { Position } from '../../../topology/streams.js'
import { startReplayThreads } from '../../audit/replay-threads.js'
import { scratchStores } from '../../audit/scratch-stores.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { DOMAIN } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import { sendHalfChanged } from '../half-changed-rounds.js'
import { startHttpCaller } from '../http-caller.js'
import { startService } from '../service.js'

const DEVICES = 60_000
const ROUNDS = 20

/** A journal of many heartbeats, written by the service itself, folded again into empty stores. */
export async function replayed(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const { application } = service
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  const ids = deviceIds(DEVICES)
  await registerDevices(caller, plugin.address, ids)
  await sendHalfChanged(application, ids, ROUNDS)
  caller.close()

  const expected = new Map<number, string>()
  const positions: Position[] = []
  const { topic } = application.journal(DOMAIN)
  for (const task of application.tasks.filter(({ processor }) => processor.name === DOMAIN)) {
    await task.commit({ changelog: false })
    expected.set(task.partition, task.digest.rows.toHex())
    positions.push({ topic, partition: task.partition, offset: task.committedOffset - 1 })
  }

  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  const settings = settingsWith({})
  const scratch = scratchStores()
  // The command runs without the service's flag, which would stand above the threads' own limit.
  setFlagsFromString('--max-semi-space-size=0')
  const threads = await startReplayThreads(application.log, settings)
  const audit: Audit = {
    source: { reader: application.log },
    applicationId: settings.applicationId,
    processors: application.processors,
    openStore: () => scratch.openStore(),
  }
  const until = { kind: 'positions', positions } as const
  const journals = await replayJournals(audit, { domains: [DOMAIN], until, replayers: threads.replayers })
  const ms = performance.now() - started
  const { user, system } = process.cpuUsage(cpuBefore)
  await threads.close()
  await plugin.close()
  await service.stop()
  for (const { partition, digest } of journals) {
    if (digest !== expected.get(partition)) throw new Error(`partition ${partition} is replayed to another state`)
  }
  const entries = journals.reduce((sum, journal) => sum + journal.entries, 0)
  const what = `journal of ${entries} events, ${journals.length} partitions, replayed into empty stores`
  const compared = `in ${threads.replayers.length} threads`
  return [
    { what, value: (entries / ms) * 1000, unit: '/s', atLeast: 300_000, compared },
    { what: 'CPU time of the replay', value: (user + system) / 1000, unit: 'ms', compared: `of ${ms.toFixed(0)} ms` },
  ]
}
