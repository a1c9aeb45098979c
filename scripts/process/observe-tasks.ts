import type { LabelsOf, Metrics } from '../../common/metrics.js'
import type { Application } from '../../topology/application.js'
import { queryReader } from '../../topology/task/query-reader.js'
import type { Standby } from '../../topology/task/standby.js'
import type { Task } from '../../topology/task/task.js'

type TaskGauge =
  | 'pulsefold_task_lag_records'
  | 'pulsefold_changelog_lag_records'
  | 'pulsefold_store_open_iterators'
  | 'pulsefold_restore_remaining_seconds'
  | 'pulsefold_standby_lag_records'
  | 'pulsefold_standby_staleness_seconds'
type TaskLabels = LabelsOf<TaskGauge>

/**
 * Brings the gauges of tasks and standbys up to date whenever the metrics are read; those of a task that has moved away, or
 * is restored, are there no more.
 */
export function observeTasks(
  metrics: Metrics,
  running: () => Pick<Application, 'tasks' | 'standbys' | 'journal' | 'log' | 'readiness'>,
): void {
  let before = new Map<string, () => void>()
  metrics.beforeText(async () => {
    const application = running()
    const now = new Map<string, () => void>()
    const set = (name: TaskGauge, labels: TaskLabels, value: number): void => {
      metrics.gauge(name, labels).set(value)
      now.set(`${name} ${labels.domain}/${labels.partition}`, () => metrics.forget(name, labels))
    }
    const ofDomain = (task: Task): void => {
      const { name: domain, gauges = {} } = task.processor
      for (const [gauge, read] of Object.entries(gauges)) {
        const labels = { domain, partition: task.partition, gauge }
        metrics.gauge('pulsefold_domain_state', labels).set(read(queryReader(task)))
        now.set(`pulsefold_domain_state ${domain}/${task.partition} ${gauge}`, () =>
          metrics.forget('pulsefold_domain_state', labels),
        )
      }
    }
    const ofTask = async (task: Task): Promise<void> => {
      const labels = { domain: task.processor.name, partition: task.partition }
      const { topic } = application.journal(task.processor.name)
      set('pulsefold_changelog_lag_records', labels, task.changelogLag)
      set('pulsefold_store_open_iterators', labels, task.openIterators)
      for (const { kind } of task.processor.effectors) {
        metrics.gauge('pulsefold_effects_owed', { ...labels, kind }).set(task.owedEffects(kind))
        const name = 'pulsefold_effects_owed'
        now.set(`${name} ${labels.domain}/${labels.partition} ${kind}`, () => metrics.forget(name, { ...labels, kind }))
      }
      if (task.isRunning) ofDomain(task)
      const { end } = await application.log.offsets({ topic, partition: task.partition })
      set('pulsefold_task_lag_records', labels, Math.max(0, end - task.offset))
    }
    const ofStandby = ({ domain, partition, lagRecords, stalenessMs }: Standby): void => {
      const labels = { domain, partition }
      if (lagRecords !== undefined) set('pulsefold_standby_lag_records', labels, lagRecords)
      if (stalenessMs < Number.MAX_SAFE_INTEGER) set('pulsefold_standby_staleness_seconds', labels, stalenessMs / 1000)
    }
    for (const { domain, partition, remainingMs } of application.readiness().restoring) {
      if (remainingMs !== null) set('pulsefold_restore_remaining_seconds', { domain, partition }, remainingMs / 1000)
    }
    application.standbys.forEach(ofStandby)
    // A log that cannot tell its end leaves the lag out.
    await Promise.allSettled(application.tasks.map(ofTask))
    for (const [name, forget] of before) if (!now.has(name)) forget()
    before = now
  })
}
