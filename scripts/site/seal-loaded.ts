import type { PartitionLoad } from '../../topology/preload/partition-load.js'
import type { Task } from '../../topology/task/task.js'
import { newestDigests } from './digests.js'
import type { DigestsOptions } from './digests.js'

/**
 * Has the tasks that are here write what was loaded to their changelogs. True: it is there, so any instance can go on from it,
 * whatever its own stores hold.
 */
export async function sealLoaded(
  options: DigestsOptions,
  tasks: readonly Task[],
  loads: readonly PartitionLoad[],
): Promise<boolean> {
  if (await isSealed(options, loads)) return true
  await Promise.all(tasks.filter(({ state }) => state === 'LIVE').map((task) => task.commit({ changelog: true })))
  return isSealed(options, loads)
}

async function isSealed(options: DigestsOptions, loads: readonly PartitionLoad[]): Promise<boolean> {
  const seals = await newestDigests(options)
  return loads.every(({ processor, partition, ownOffset }) =>
    seals.some((seal) => seal.domain === processor.name && seal.partition === partition && seal.offset > ownOffset + 1),
  )
}
