import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { metricSpecs } from './metrics-table.js'
import type { MetricName, MetricSpec } from './metrics-table.js'

type NameOf<Type extends MetricSpec['type']> = {
  [Name in MetricName]: (typeof metricSpecs)[Name]['type'] extends Type ? Name : never
}[MetricName]

/** A value for each label of the metric. */
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof metricSpecs)[Name]['labels'][number], string | number>
>

/**
 * The metrics of one process, by the table: another name, or labels that do not fit it, is a type error. What comes back
 * is cheap to use; get it once where a call per event would count.
 */
export interface Metrics {
  counter<Name extends NameOf<'counter'>>(name: Name, labels: LabelsOf<Name>): { increment(by?: number): void }
  gauge<Name extends NameOf<'gauge'>>(name: Name, labels: LabelsOf<Name>): { set(value: number): void }
  histogram<Name extends NameOf<'histogram'>>(name: Name, labels: LabelsOf<Name>): { observe(value: number): void }
  /** Drops the series of these labels, as of a task that has moved away. */
  forget<Name extends MetricName>(name: Name, labels: LabelsOf<Name>): void
  /** Called before each `text`, to set gauges that are only worth looking up then. */
  beforeText(update: () => void | Promise<void>): void
  /** All metrics in Prometheus' text format. */
  text(): Promise<string>
  readonly contentType: string
  /** Drops everything; what is counted later is lost. */
  close(): void
}

const openLabelValues = 100
const labelLimit = 120

/** `processMetrics` (default true) adds Node's own: memory, garbage collection, event loop. */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const updates: (() => void | Promise<void>)[] = []
  const byName = new Map<string, Counter | Gauge | Histogram>()
  const seen = new Map<string, Set<string>>()
  for (const [name, spec] of Object.entries<MetricSpec>(metricSpecs)) {
    const common = { name, help: spec.help, labelNames: [...spec.labels], registers }
    if (spec.type === 'counter') byName.set(name, new Counter(common))
    else if (spec.type === 'gauge') byName.set(name, new Gauge(common))
    else byName.set(name, new Histogram({ ...common, buckets: [...(spec.buckets ?? [])] }))
  }
  if (options.processMetrics !== false) collectDefaultMetrics({ register: registry })

  const bounded = (name: MetricName, labels: Readonly<Record<string, string | number>>): Record<string, string> => {
    const spec: MetricSpec = metricSpecs[name]
    return Object.fromEntries(
      spec.labels.map((label) => {
        const value = String(labels[label]).slice(0, labelLimit)
        return [label, label === spec.openLabel ? known(name, value) : value]
      }),
    )
  }
  const known = (name: string, value: string): string => {
    const values = seen.get(name) ?? new Set()
    seen.set(name, values)
    if (!values.has(value) && values.size >= openLabelValues) return 'other'
    values.add(value)
    return value
  }
  // The table says which of the three a name is.
  const metric = (name: MetricName): unknown => byName.get(name)

  return {
    counter(name, labels) {
      const series = (metric(name) as Counter).labels(bounded(name, labels))
      return { increment: (by = 1) => series.inc(by) }
    },
    gauge(name, labels) {
      const series = (metric(name) as Gauge).labels(bounded(name, labels))
      return { set: (value) => series.set(value) }
    },
    histogram(name, labels) {
      const series = (metric(name) as Histogram).labels(bounded(name, labels))
      return { observe: (value) => series.observe(value) }
    },
    forget(name, labels) {
      ;(metric(name) as Gauge).remove(bounded(name, labels))
    },
    beforeText(update) {
      updates.push(update)
    },
    async text() {
      for (const update of updates) await update()
      return registry.metrics()
    },
    contentType: registry.contentType,
    close() {
      updates.length = 0
      registry.clear()
    },
  }
}
