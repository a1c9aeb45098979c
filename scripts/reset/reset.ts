import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../common/clock.js'
import { silentLogger } from '../../common/logger.js'
import type { Settings } from '../../common/settings.js'
import { administer } from '../../topology/log/kafka/administration.js'
import type { KafkaAdministration } from '../../topology/log/kafka/administration.js'
import { declaredProcessors } from '../process/declared-processors.js'
import { clusterAddress, openLog } from '../process/open-log.js'
import { ResetError } from './errors.js'
import { planReset } from './plan.js'
import type { ResetPlan } from './plan.js'

/**
 * Deletes the copies of state: this data directory's stores, and the changelogs; on Kafka the group with its positions too. The
 * next start folds the journals from their start, and tells all outputs again, with the ids that they had. Answers what was,
 * or with `dryRun` would be, deleted. Errors: INSTANCES_ALIVE, JOURNAL_INCOMPLETE, and those of the log.
 */
export async function reset(settings: Settings, clock: Clock, dryRun: boolean): Promise<ResetPlan> {
  const { kafkaBrokers, applicationId } = settings
  if (kafkaBrokers.length === 0) return onLog(settings, clock, dryRun, undefined)
  return administer(clusterAddress(settings), async (administration) => {
    const members = await administration.members(applicationId)
    if (members.length > 0) throw new ResetError('INSTANCES_ALIVE', `group ${applicationId} has ${members.join(', ')}`)
    return onLog(settings, clock, dryRun, administration)
  })
}

async function onLog(
  settings: Settings,
  clock: Clock,
  dryRun: boolean,
  administration: KafkaAdministration | undefined,
): Promise<ResetPlan> {
  const storesDirectory = join(settings.dataDir, 'stores')
  let failure: Error | undefined
  // No process has the data directory while this one has it.
  const opened = await openLog(settings, silentLogger(), clock, (error) => (failure ??= error))
  try {
    const plan = await planReset(opened.log, declaredProcessors(settings), settings.applicationId, storesDirectory)
    if (failure !== undefined) throw failure
    if (dryRun) return plan
    await administration?.deleteGroup(settings.applicationId)
    await opened.clear(plan.changelogs.map(({ topic }) => topic))
    for (const store of plan.stores) await rm(join(storesDirectory, store), { recursive: true, force: true })
    return plan
  } finally {
    await opened.close()
  }
}
