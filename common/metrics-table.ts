/** The one table of metrics: types, the registry and the documentation follow from it. */
export interface MetricSpec {
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** The last part of the name before `_total`, as Prometheus wants it. */
  readonly unit: string
  readonly labels: readonly string[]
  readonly help: string
  /** Of a histogram: upper bounds, in the unit. */
  readonly buckets?: readonly number[]
  /** A label whose values come from outside: beyond the first hundred they are counted as `other`. */
  readonly openLabel?: string
}

const task = ['domain', 'partition'] as const
const shortSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const longSeconds = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

export const metricSpecs = {
  pulsefold_ingested_records_total: {
    type: 'counter',
    unit: 'records',
    labels: ['topic', 'result', 'reason'],
    help: 'Records taken in from an input topic, by what became of them (event, skipped, rejected), and why.',
  },
  pulsefold_input_stopped: {
    type: 'gauge',
    unit: 'stopped',
    labels: ['topic', 'partition'],
    help: '1 for a partition of an input topic that is not read, as it is no longer the same source; 0 once it is again.',
  },
  pulsefold_input_lag_records: {
    type: 'gauge',
    unit: 'records',
    labels: ['topic', 'partition'],
    help: 'Records of an input topic not taken in yet, by the instance that reads the partition.',
  },
  pulsefold_dead_letter_records_total: {
    type: 'counter',
    unit: 'records',
    labels: ['topic', 'code'],
    help: 'Records sent to the dead letters, by source topic and error code.',
  },
  pulsefold_folded_entries_total: {
    type: 'counter',
    unit: 'entries',
    labels: task,
    help: 'Journal entries folded: events, timers and owners; a journal record holds a block of them.',
  },
  pulsefold_repeated_entries_total: {
    type: 'counter',
    unit: 'entries',
    labels: ['domain', 'kind'],
    help: 'Journal entries dropped because their source position was folded before: repeats after a crash.',
  },
  pulsefold_fold_events_total: {
    type: 'counter',
    unit: 'events',
    labels: ['domain', 'counter', 'label'],
    help: "What a domain's fold counts, by the name of the counter and its label.",
    openLabel: 'label',
  },
  pulsefold_task_state: {
    type: 'gauge',
    unit: 'state',
    labels: [...task, 'state'],
    help: '1 for the state that a task is in.',
  },
  pulsefold_task_lag_records: {
    type: 'gauge',
    unit: 'records',
    labels: task,
    help: 'Journal records not folded yet.',
  },
  pulsefold_commits_total: {
    type: 'counter',
    unit: 'commits',
    labels: task,
    help: 'Commits of state and position to the local store.',
  },
  pulsefold_commit_rows_total: {
    type: 'counter',
    unit: 'rows',
    labels: task,
    help: 'Rows written by commits; a row changed many times between two commits is written once.',
  },
  pulsefold_commit_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: ['domain'],
    help: 'Time of a commit, from its outputs to the write to the local store.',
    buckets: shortSeconds,
  },
  pulsefold_changelog_records_total: {
    type: 'counter',
    unit: 'records',
    labels: task,
    help: 'Records written to a changelog, markers included.',
  },
  pulsefold_changelog_lag_records: {
    type: 'gauge',
    unit: 'records',
    labels: task,
    help: 'Journal records folded and committed since the newest marker of the changelog.',
  },
  pulsefold_output_records_total: {
    type: 'counter',
    unit: 'records',
    labels: ['topic'],
    help: 'Records written to an output topic.',
  },
  pulsefold_deadlines_fired_total: {
    type: 'counter',
    unit: 'fired',
    labels: ['domain'],
    help: 'Deadlines whose time has come in the journal.',
  },
  pulsefold_domain_state: {
    type: 'gauge',
    unit: 'state',
    labels: [...task, 'gauge'],
    help: 'What a domain tells of what it keeps, by the name of the gauge: address health tells failed_addresses, and retry_due_seconds, for how long a retry has been due that no call came for.',
  },
  pulsefold_effects_owed: {
    type: 'gauge',
    unit: 'owed',
    labels: [...task, 'kind'],
    help: 'Effects asked for by a fold whose result is not folded yet.',
  },
  pulsefold_effect_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: ['domain', 'kind'],
    help: 'Time of one attempt at an effect.',
    buckets: longSeconds,
  },
  pulsefold_restored_records_total: {
    type: 'counter',
    unit: 'records',
    labels: task,
    help: 'Changelog records read to rebuild stores.',
  },
  pulsefold_restore_lag_records: {
    type: 'gauge',
    unit: 'records',
    labels: task,
    help: 'Changelog records still to be read by a restore; 0 when none is running.',
  },
  pulsefold_restore_remaining_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: task,
    help: 'Time that a restore will still take at its pace; absent when none is running.',
  },
  pulsefold_standby_lag_records: {
    type: 'gauge',
    unit: 'records',
    labels: task,
    help: 'Changelog records that a standby here has not applied yet.',
  },
  pulsefold_standby_staleness_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: task,
    help: "Time since a standby here was known to hold all that the owner's journal held.",
  },
  pulsefold_http_requests_total: {
    type: 'counter',
    unit: 'requests',
    labels: ['method', 'route', 'status'],
    help: 'HTTP answers, by route pattern and status.',
  },
  pulsefold_http_request_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: ['route'],
    help: 'Time from the arrival of a request to the end of its answer.',
    buckets: shortSeconds,
  },
  pulsefold_site_active: {
    type: 'gauge',
    unit: 'active',
    labels: ['site', 'phase'],
    help: 'Of two sites, on each: 1 when it is the active one; with the phase of the register.',
  },
  pulsefold_site_epoch: {
    type: 'gauge',
    unit: 'epoch',
    labels: ['site'],
    help: 'Epoch of the site register; the same on both sites while they hear each other.',
  },
  pulsefold_mirror_lag_seconds: {
    type: 'gauge',
    unit: 'seconds',
    labels: ['site'],
    help: "Time since the copy of the other site's journals was last known to be complete.",
  },
  pulsefold_stores_set_aside_total: {
    type: 'counter',
    unit: 'aside',
    labels: task,
    help: 'Local stores found damaged or foreign, moved out of the way and rebuilt.',
  },
  pulsefold_store_checks_total: {
    type: 'counter',
    unit: 'checks',
    labels: [...task, 'result'],
    help: 'Local stores compared with their checksums and digests, by what was found (intact, damaged); a damaged one is rebuilt.',
  },
  pulsefold_store_check_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: ['domain'],
    help: 'Time that the check of a local store kept the process busy; it pauses four times as long in between.',
    buckets: longSeconds,
  },
  pulsefold_gap_records_total: {
    type: 'counter',
    unit: 'records',
    labels: ['topic', 'partition'],
    help: 'Records that retention deleted before they were read.',
  },
  pulsefold_instance_calls_total: {
    type: 'counter',
    unit: 'calls',
    labels: ['kind', 'result'],
    help: 'Calls to other instances, by kind (query, lookUps, command) and what became of them (answered, or an error code); look-ups of one moment share a call.',
  },
  pulsefold_instance_call_duration_seconds: {
    type: 'histogram',
    unit: 'seconds',
    labels: ['kind'],
    help: 'Time of a call to another instance, answered or not.',
    buckets: shortSeconds,
  },
  pulsefold_pauses_total: {
    type: 'counter',
    unit: 'pauses',
    labels: [],
    help: 'Times the process did nothing for a second or longer: stopped, starved, or its event loop blocked.',
  },
  pulsefold_failures_total: {
    type: 'counter',
    unit: 'failures',
    labels: ['where'],
    help: 'What failed inside and is tried again, by place; the log tells each.',
    openLabel: 'where',
  },
  pulsefold_store_open_iterators: {
    type: 'gauge',
    unit: 'iterators',
    labels: task,
    help: 'RocksDB iterators not closed yet; each holds a snapshot.',
  },
} as const satisfies Readonly<Record<string, MetricSpec>>

export type MetricName = keyof typeof metricSpecs

/** The documentation's table. */
export function metricsTable(): string {
  const rows = Object.entries<MetricSpec>(metricSpecs).map(
    ([name, { type, unit, labels, help }]) =>
      `| \`${name}\` | ${type} | ${unit} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  return ['| name | type | unit | labels | meaning |', '| --- | --- | --- | --- | --- |', ...rows].join('\n')
}
