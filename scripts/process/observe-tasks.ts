import type { LabelsOf, Metrics } from '../../common/metrics.js'
import type { Application } from '../../topology/application.js'
import type { SourceView } from '../../topology/ingest/sources/sources.js'
import { queryReader } from '../../topology/task/query-reader.js'
import type { Standby } from '../../topology/task/standby.js'
import type { Task } from '../../topology/task/task.js'

type Gauge = Parameters<Metrics['gauge']>[0]

/**
 * Brings the gauges of inputs, tasks and standbys up to date whenever the metrics are read; those of a partition that has moved
 * away, or is restored, are there no more.
 */
export function observeTasks(
  metrics: Metrics,
  running: () => Pick<Application, 'tasks' | 'standbys' | 'sources' | 'journal' | 'log' | 'readiness'>,
): void {
  let before = new Map<string, () => void>()
  metrics.beforeText(async () => {
    const application = running()
    const now = new Map<string, () => void>()
    const set = <Name extends Gauge>(name: Name, labels: LabelsOf<Name>, value: number): void => {
      metrics.gauge(name, labels).set(value)
      now.set(`${name} ${Object.values(labels).join(' ')}`, () => metrics.forget(name, labels))
    }
    const ofInput = async ({ topic, partition, position }: SourceView): Promise<void> => {
      const { end } = await application.log.offsets({ topic, partition })
      set('pulsefold_input_lag_records', { topic, partition }, Math.max(0, end - position))
    }
    const ofDomain = (task: Task): void => {
      const { name: domain, gauges = {} } = task.processor
      for (const [gauge, read] of Object.entries(gauges)) {
        set('pulsefold_domain_state', { domain, partition: task.partition, gauge }, read(queryReader(task)))
      }
    }
    const ofTask = async (task: Task): Promise<void> => {
      const labels = { domain: task.processor.name, partition: task.partition }
      const { topic } = application.journal(task.processor.name)
      set('pulsefold_changelog_lag_records', labels, task.changelogLag)
      set('pulsefold_store_open_iterators', labels, task.openIterators)
      for (const { kind } of task.processor.effectors) {
        set('pulsefold_effects_owed', { ...labels, kind }, task.owedEffects(kind))
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
    await Promise.allSettled([...application.tasks.map(ofTask), ...application.sources().map(ofInput)])
    for (const [name, forget] of before) if (!now.has(name)) forget()
    before = now
  })
}
