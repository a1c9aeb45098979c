/** A sample of durations in ms. */
export interface Latencies {
  add(ms: number): void
  summary(): LatencySummary
}

export interface LatencySummary {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export function latencies(): Latencies {
  const sample: number[] = []
  return {
    add: (ms) => void sample.push(ms),
    summary() {
      const sorted = sample.toSorted((a, b) => a - b)
      const percentile = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
      return { count: sorted.length, p50Ms: percentile(0.5), p99Ms: percentile(0.99) }
    },
  }
}
