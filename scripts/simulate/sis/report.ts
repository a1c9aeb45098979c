import type { LatencySummary } from '../latencies.js'

/** What nodes did, how Pulsefold moved the addresses, and where that differs from the script. */
export interface SisReport {
  readonly url: string
  readonly seed: number
  readonly durationMs: number
  readonly calls: number
  readonly retries: number
  readonly failed: number
  /** Selections without an address. */
  readonly unserved: number
  readonly outages: readonly AddressOutageReport[]
  /** Moves that no outage explains. */
  readonly unexpected: readonly string[]
  /** Calls, no retries, that went to an address that was FAILED. */
  readonly toFailed: readonly string[]
  readonly latencies: Readonly<Record<string, LatencySummary>>
}

export interface AddressOutageReport {
  readonly address: string
  readonly lastedMs: number
  /** From its begin to FAILED, and from its end to ACTIVE; null: not in time. */
  readonly failedAfterMs: number | null
  readonly activeAfterMs: number | null
}

export function isSisAsExpected({ outages, unexpected, toFailed }: SisReport): boolean {
  const areSeen = outages.every(({ failedAfterMs, activeAfterMs }) => failedAfterMs !== null && activeAfterMs !== null)
  return areSeen && unexpected.length === 0 && toFailed.length === 0
}

export function sisReportLines(report: SisReport): readonly string[] {
  const { calls, retries, failed, unserved, outages, unexpected, toFailed } = report
  return [
    `Simulated against ${report.url} with seed ${report.seed} for ${seconds(report.durationMs)}`,
    `  calls     ${calls}, ${failed} failed, ${retries} of all were retries; ${unserved} without an address`,
    ...outages.map(outageLine),
    `  moves     ${unexpected.length} besides these${examples(unexpected)}`,
    `  calls     ${toFailed.length} to a failed address that were no retries${examples(toFailed)}`,
    ...Object.entries(report.latencies).map(
      ([what, { count, p50Ms, p99Ms }]) =>
        `  latency   ${what}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms of ${count}`,
    ),
    isSisAsExpected(report) ? 'All moves are as expected.' : 'Moves DIFFER from what was expected.',
  ]
}

function outageLine({ address, lastedMs, failedAfterMs, activeAfterMs }: AddressOutageReport): string {
  const failed = failedAfterMs === null ? 'not FAILED in time' : `FAILED after ${seconds(failedAfterMs)}`
  const active = activeAfterMs === null ? 'not ACTIVE in time' : `ACTIVE again ${seconds(activeAfterMs)} after its end`
  return `  outage    ${address} for ${seconds(lastedMs)}: ${failed}, ${active}`
}

function examples(texts: readonly string[]): string {
  if (texts.length === 0) return ''
  return `: ${texts.slice(0, 5).join(', ')}${texts.length > 5 ? ` and ${texts.length - 5} more` : ''}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
