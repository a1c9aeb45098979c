import type { Readiness, TaskRestore } from './streams.js'
import type { Standby } from './task/standby.js'
import type { Task } from './task/task.js'

export interface ReadinessOf {
  readonly isStopping: boolean
  /** The group has told this instance what is its. */
  readonly hasJoined: boolean
  /** The group has heard of it of late. */
  readonly isCurrent: boolean
  /** Why the log refuses what is written; empty: it does not. */
  readonly writeTrouble: string
  readonly tasks: readonly Task[]
  readonly standbys: readonly Standby[]
  /** Standbys have caught up once; those that come later hold nobody up. */
  readonly hasCaughtUp: boolean
  /** Why inputs are not read, or not far enough. */
  readonly sourceReasons: readonly string[]
}

const MAX_REASONS = 20
const MAX_RESTORES_IN_WORDS = 5

/** Whether this instance has all its state, and what is still to be done. */
export function readinessOf(application: ReadinessOf): Readiness {
  const { tasks, standbys } = application
  const restoring = [...tasks.map(restoreOfTask), ...standbys.map(restoreOfStandby)].filter(isPresent)
  const reasons = [
    ...reasonsOfGroup(application),
    ...tasks.flatMap((task) => (task.trouble === '' ? [] : [`task ${nameOf(task)}: ${task.trouble}`])),
    ...countedReasons(tasks),
    ...(application.hasCaughtUp ? [] : reasonsOfStandbys(standbys)),
    ...restoring
      .filter(({ role }) => role === 'active')
      .slice(0, MAX_RESTORES_IN_WORDS)
      .map(inWords),
    ...application.sourceReasons,
  ]
  return { ready: reasons.length === 0, reasons: reasons.slice(0, MAX_REASONS), restoring }
}

function reasonsOfGroup({ isStopping, hasJoined, isCurrent, writeTrouble }: ReadinessOf): string[] {
  const reasons: string[] = []
  if (isStopping) reasons.push('the service is stopping')
  if (!hasJoined) reasons.push('no partitions are assigned yet')
  else if (!isCurrent) reasons.push('the group has not heard of this instance for a session')
  if (writeTrouble !== '') reasons.push(`the log refuses what is written: ${writeTrouble}`)
  return reasons
}

/** How many tasks of each domain are not live, apart from those with a trouble of their own. */
function countedReasons(tasks: readonly Task[]): string[] {
  const domains = new Set(tasks.map(({ processor }) => processor.name))
  return [...domains].flatMap((domain) => {
    const own = tasks.filter(({ processor }) => processor.name === domain)
    const starting = own.filter(({ state, trouble }) => state !== 'LIVE' && trouble === '')
    return starting.length === 0 ? [] : [`${domain}: ${starting.length} of ${own.length} tasks are not live yet`]
  })
}

function reasonsOfStandbys(standbys: readonly Standby[]): string[] {
  const restoring = standbys.filter(({ state }) => state === 'RESTORING')
  return restoring.length === 0 ? [] : [`${restoring.length} of ${standbys.length} standbys are not caught up yet`]
}

function restoreOfTask(task: Task): TaskRestore | undefined {
  const { restore, processor, partition } = task
  return restore && { domain: processor.name, partition, role: 'active', ...restore }
}

function restoreOfStandby({ restore, domain, partition }: Standby): TaskRestore | undefined {
  return restore && { domain, partition, role: 'standby', ...restore }
}

function inWords({
  domain,
  partition,
  phase,
  doneRecords,
  totalRecords,
  recordsPerSecond,
  remainingMs,
}: TaskRestore): string {
  const what = phase === 'changelog' ? 'restoring from the changelog' : 'folding the journal'
  const far = `${doneRecords} of ${totalRecords} records`
  const pace =
    recordsPerSecond === null || remainingMs === null
      ? ''
      : `, ${recordsPerSecond} a second, about ${Math.ceil(remainingMs / 1000)} s left`
  return `task ${domain}/${partition}: ${what}, ${far}${pace}`
}

function nameOf({ processor, partition }: Task): string {
  return `${processor.name}/${partition}`
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined
}
