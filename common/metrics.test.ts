import t from 'tap'
import { metricSpecs } from './metrics-table.js'
import type { MetricSpec } from './metrics-table.js'
import { createMetrics } from './metrics.js'
import type { LabelsOf, Metrics } from './metrics.js'

const specs = Object.entries<MetricSpec>(metricSpecs)

for (const [name, spec] of specs) {
  t.test(`${name} is named as Prometheus wants it`, async (t) => {
    t.match(name, /^pulsefold_[a-z_]+$/)
    t.equal(name.endsWith('_total'), spec.type === 'counter')
    t.ok(name.replace(/_total$/, '').endsWith(`_${spec.unit}`))
    t.match(spec.help, /^[A-Z0-9].*\.$/)
    t.equal(spec.type === 'histogram', spec.buckets !== undefined)
    t.ok(spec.openLabel === undefined || spec.labels.includes(spec.openLabel))
  })
}

t.test('counts, sets, observes, forgets', async (t) => {
  const metrics = createMetrics({ processMetrics: false })
  const task = { domain: 'trust-level', partition: 3 }
  const commits = metrics.counter('pulsefold_commits_total', task)
  commits.increment()
  commits.increment(2)
  metrics.gauge('pulsefold_task_lag_records', task).set(7)
  metrics.histogram('pulsefold_commit_duration_seconds', { domain: 'trust-level' }).observe(0.002)
  const text = await metrics.text()
  t.match(text, 'pulsefold_commits_total{domain="trust-level",partition="3"} 3')
  t.match(text, 'pulsefold_task_lag_records{domain="trust-level",partition="3"} 7')
  t.match(text, 'pulsefold_commit_duration_seconds_bucket{le="0.0025",domain="trust-level"} 1')
  t.match(text, `# HELP pulsefold_commits_total ${metricSpecs.pulsefold_commits_total.help}`)
  t.match(metrics.contentType, /^text\/plain; version=0\.0\.4/)
  metrics.forget('pulsefold_task_lag_records', task)
  t.notMatch(await metrics.text(), 'pulsefold_task_lag_records{')
})

t.test('updates come before the text', async (t) => {
  const metrics = createMetrics({ processMetrics: false })
  const lag = metrics.gauge('pulsefold_task_lag_records', { domain: 'd', partition: 0 })
  metrics.beforeText(async () => lag.set(5))
  t.match(await metrics.text(), 'pulsefold_task_lag_records{domain="d",partition="0"} 5')
})

t.test('label values from outside cannot grow the registry without end', async (t) => {
  const metrics = createMetrics({ processMetrics: false })
  const count = (label: string) =>
    metrics.counter('pulsefold_fold_events_total', { domain: 'd', counter: 'c', label }).increment()
  for (let n = 0; n < 1000; n += 1) count(`type-${n}`)
  count('type-0')
  count('x'.repeat(100_000) + '\n"}')
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('pulsefold_fold_events_total{'))
  t.equal(lines.length, 101)
  t.ok(lines.includes('pulsefold_fold_events_total{domain="d",counter="c",label="other"} 901'))
  t.ok(lines.includes('pulsefold_fold_events_total{domain="d",counter="c",label="type-0"} 2'))
})

t.test('two of them share nothing, and a closed one is empty', async (t) => {
  const [one, other] = [createMetrics(), createMetrics()]
  one.counter('pulsefold_output_records_total', { topic: 'a' }).increment()
  t.match(await one.text(), /nodejs_eventloop_lag_seconds/)
  t.match(await one.text(), /process_resident_memory_bytes/)
  t.notMatch(await other.text(), 'pulsefold_output_records_total{')
  one.close()
  t.equal((await one.text()).trim(), '')
})

t.test('a name or label that is not in the table is a type error', async (t) => {
  type CounterName = Parameters<Metrics['counter']>[0]
  type Labels = LabelsOf<'pulsefold_output_records_total'>
  const isName = <Name extends string>(..._yes: Name extends CounterName ? [true] : [false]) => _yes
  const fits = <Given>(..._yes: Given extends Labels ? [true] : [false]) => _yes
  t.same(isName<'pulsefold_commits_total'>(true), [true])
  t.same(isName<'pulsefold_commit_total'>(false), [false])
  t.same(isName<'pulsefold_task_lag_records'>(false), [false])
  t.same(fits<{ topic: string }>(true), [true])
  t.same(fits<{ tpoic: string }>(false), [false])
})
