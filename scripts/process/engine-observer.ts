import type { Clock } from '../../common/clock.js'
import { PulsefoldError } from '../../common/errors.js'
import type { Logger } from '../../common/logger.js'
import type { Metrics } from '../../common/metrics.js'
import type { EngineObserver } from '../../topology/observer.js'
import type { TaskState } from '../../topology/task/task-state.js'
import { throttle } from './throttle.js'

const taskStates: readonly TaskState[] = ['CREATED', 'RESTORING', 'RUNNING', 'LIVE', 'CLOSED', 'FAILED']

/** What goes on failing in one place is told so often, ms. */
const FAILURE_LINE_MS = 10_000

/** How often a restore tells how far it is, ms. */
const RESTORE_LINE_MS = 10_000

/**
 * Tells metrics and log what happens in the engine: counters always, a line for each transition and each trouble. Of what goes
 * on failing in one place with one code there is a line every 10 s, with the number of those left out.
 */
export function engineObserver(metrics: Metrics, logger: Logger, clock: Pick<Clock, 'monotonic'>): EngineObserver {
  const failureLines = throttle(clock, FAILURE_LINE_MS)
  const restoreLines = throttle(clock, RESTORE_LINE_MS)
  const folded = memo((domain, partition) => metrics.counter('pulsefold_folded_entries_total', { domain, partition }))
  const counted = memo((domain, counter, label) =>
    counter === 'repeated'
      ? metrics.counter('pulsefold_repeated_entries_total', { domain, kind: label })
      : metrics.counter('pulsefold_fold_events_total', { domain, counter, label }),
  )
  const decoded = memo((topic, result, reason) =>
    metrics.counter('pulsefold_ingested_records_total', { topic, result, reason }),
  )
  const written = memo((topic) => metrics.counter('pulsefold_output_records_total', { topic }))
  const restored = new Map<string, number>()

  return {
    onTaskState(domain, partition, state, reason) {
      for (const known of taskStates) {
        metrics.gauge('pulsefold_task_state', { domain, partition, state: known }).set(known === state ? 1 : 0)
      }
      const level = state === 'FAILED' ? 'error' : 'info'
      logger[level]({ domain, partition, state, reason }, 'task state')
    },
    onStandbyState(domain, partition, state, reason) {
      logger[state === 'FAILED' ? 'error' : 'info']({ domain, partition, state, reason }, 'standby state')
    },
    onFolded: (domain, partition, entries) => folded(domain, String(partition)).increment(entries),
    onCount: (domain, counter, label, times) => counted(domain, counter, label).increment(times),
    onCommit(domain, partition, operations, durationMs) {
      metrics.counter('pulsefold_commits_total', { domain, partition }).increment()
      metrics.counter('pulsefold_commit_rows_total', { domain, partition }).increment(operations)
      metrics.histogram('pulsefold_commit_duration_seconds', { domain }).observe(durationMs / 1000)
    },
    onChangelog(domain, partition, records) {
      metrics.counter('pulsefold_changelog_records_total', { domain, partition }).increment(records)
    },
    onRestore(domain, partition, { restoredRecords, startOffset, offset, endOffset }) {
      const task = { domain, partition }
      const before = restored.get(`${domain}/${partition}`) ?? 0
      const more = restoredRecords < before ? restoredRecords : restoredRecords - before
      restored.set(`${domain}/${partition}`, restoredRecords)
      metrics.counter('pulsefold_restored_records_total', task).increment(more)
      metrics.gauge('pulsefold_restore_lag_records', task).set(Math.max(0, endOffset - offset))
      const isDone = offset >= endOffset
      if (!isDone && restoreLines.pass(`${domain}/${partition}`) === undefined) return
      const percent = isDone ? 100 : Math.floor((100 * (offset - startOffset)) / (endOffset - startOffset))
      logger.info({ ...task, restoredRecords, offset, endOffset, percent }, 'restoring from the changelog')
    },
    onDeadlineFired: (domain) => metrics.counter('pulsefold_deadlines_fired_total', { domain }).increment(),
    onEffectPerformed(domain, kind, durationMs) {
      metrics.histogram('pulsefold_effect_duration_seconds', { domain, kind }).observe(durationMs / 1000)
    },
    onSetAside(domain, partition, reason, movedTo) {
      metrics.counter('pulsefold_stores_set_aside_total', { domain, partition }).increment()
      logger.warn({ domain, partition, reason, movedTo }, 'local store set aside, to be rebuilt')
    },
    onStoreChecked(domain, partition, busyMs, isIntact) {
      metrics
        .counter('pulsefold_store_checks_total', { domain, partition, result: isIntact ? 'intact' : 'damaged' })
        .increment()
      metrics.histogram('pulsefold_store_check_duration_seconds', { domain }).observe(busyMs / 1000)
      logger.debug({ domain, partition, busyMs, isIntact }, 'local store checked')
    },
    onStoreRemoved: (store) => logger.info({ store }, 'local store deleted: nothing has used it for long'),
    onDecoded: (topic, result, reason, times) => decoded(topic, result, reason).increment(times),
    onDeadLetter(topic, code) {
      metrics.counter('pulsefold_dead_letter_records_total', { topic, code }).increment()
    },
    onOutput: (topic, times) => written(topic).increment(times),
    onInputTopic(topic, partitions) {
      if (partitions === 0) logger.error({ topic }, 'input topic is missing; it is read as soon as it is there')
      else logger.warn({ topic, partitions }, 'input topic has another number of partitions; all of them are read')
    },
    onSourceStopped({ topic, partition }, reason) {
      metrics.gauge('pulsefold_input_stopped', { topic, partition }).set(reason === '' ? 0 : 1)
      if (reason === '') logger.info({ topic, partition }, 'input is read again')
      else logger.error({ topic, partition, reason }, 'input is not read until it is restarted (pulsefold sources)')
    },
    onGap({ topic, partition, from, to }) {
      metrics.counter('pulsefold_gap_records_total', { topic, partition }).increment(to - from)
      logger.error({ topic, partition, from, to }, 'records were deleted before they were read')
    },
    onError(where, error) {
      metrics.counter('pulsefold_failures_total', { where }).increment()
      const leftOut = failureLines.pass(`${where} ${error instanceof PulsefoldError ? error.code : error.name}`)
      if (leftOut === undefined) return
      logger.error({ where, err: error, ...(leftOut > 0 && { leftOut }) }, 'failed')
    },
  }
}

/**
 * Keeps what `make` gave for the same texts, as some of these are asked for with every event. What it was asked for more
 * than a thousand texts, it starts afresh: labels from outside are folded together only behind it.
 */
function memo<Texts extends readonly string[], Made>(make: (...texts: Texts) => Made): (...texts: Texts) => Made {
  const made = new Map<string, Made>()
  return (...texts) => {
    const key = texts.join('\u0000')
    const kept = made.get(key)
    if (kept !== undefined) return kept
    if (made.size >= 1000) made.clear()
    const fresh = make(...texts)
    made.set(key, fresh)
    return fresh
  }
}
