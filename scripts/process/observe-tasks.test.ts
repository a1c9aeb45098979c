import t from 'tap'
import { createMetrics } from '../../common/metrics.js'
import type { Application } from '../../topology/application.js'
import { observeTasks } from './observe-tasks.js'

type Observed = ReturnType<Parameters<typeof observeTasks>[1]>

const task = (partition: number): Application['tasks'][number] =>
  ({
    processor: { name: 'd', effectors: [{ kind: 'check' }], gauges: { height: () => 42 } },
    isRunning: true,
    partition,
    offset: 4,
    changelogLag: 2,
    openIterators: 1,
    owedEffects: () => 3,
  }) as unknown as Application['tasks'][number]
const standby = (partition: number, stalenessMs: number): Application['standbys'][number] =>
  ({ domain: 'd', partition, lagRecords: 7, stalenessMs }) as unknown as Application['standbys'][number]

function subject() {
  const application = {
    tasks: [task(0)],
    standbys: [standby(1, 1500), standby(2, Number.MAX_SAFE_INTEGER)],
    held: [{ topic: 'd', partition: 5, incarnation: '', position: 3, stopped: '' }],
    sources: () => application.held,
    journal: () => ({ topic: 'j', partitions: 3 }),
    log: { offsets: () => Promise.resolve({ start: 0, end: 10 }) },
    restoring: [{ domain: 'd', partition: 0, remainingMs: 2500 }],
    readiness: () => ({ restoring: application.restoring }),
  }
  const metrics = createMetrics({ processMetrics: false })
  observeTasks(metrics, () => application as unknown as Observed)
  const series = async (): Promise<string[]> =>
    (await metrics.text())
      .split('\n')
      .filter((line) => line.includes('="d"'))
      .sort()
  return { application, series }
}

t.test('inputs, tasks and standbys with their lags, and what a restore still takes', async (t) => {
  const { series } = subject()
  t.same(await series(), [
    'pulsefold_changelog_lag_records{domain="d",partition="0"} 2',
    'pulsefold_domain_state{domain="d",partition="0",gauge="height"} 42',
    'pulsefold_effects_owed{domain="d",partition="0",kind="check"} 3',
    'pulsefold_input_lag_records{topic="d",partition="5"} 7',
    'pulsefold_restore_remaining_seconds{domain="d",partition="0"} 2.5',
    'pulsefold_standby_lag_records{domain="d",partition="1"} 7',
    'pulsefold_standby_lag_records{domain="d",partition="2"} 7',
    'pulsefold_standby_staleness_seconds{domain="d",partition="1"} 1.5',
    'pulsefold_store_open_iterators{domain="d",partition="0"} 1',
    'pulsefold_task_lag_records{domain="d",partition="0"} 6',
  ])
})

t.test('what has moved away or is over is told no more; a log that does not answer leaves the lag out', async (t) => {
  const { application, series } = subject()
  await series()
  Object.assign(application, { tasks: [task(1)], standbys: [], held: [], restoring: [] })
  application.log.offsets = () => Promise.reject(new Error('no broker'))
  t.same(await series(), [
    'pulsefold_changelog_lag_records{domain="d",partition="1"} 2',
    'pulsefold_domain_state{domain="d",partition="1",gauge="height"} 42',
    'pulsefold_effects_owed{domain="d",partition="1",kind="check"} 3',
    'pulsefold_store_open_iterators{domain="d",partition="1"} 1',
  ])
})
