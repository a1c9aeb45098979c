import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import type { LatencySummary } from './latencies.js'
import type { OutageKind } from './plan.js'

/** What a run sent, what Pulsefold answered, and where that differs from what it should have. */
export interface Report {
  readonly url: string
  readonly seed: number
  readonly devices: number
  readonly plugins: number
  readonly durationMs: number
  readonly heartbeats: Readonly<Record<TrustLevel, number>>
  /** Requests that were sent again after 503 or a lost connection. */
  readonly retries: number
  readonly outages: readonly OutageReport[]
  readonly searches: readonly SearchComparison[]
  readonly reads: { readonly asked: number; readonly different: readonly ReadDifference[] }
  readonly latencies: Readonly<Record<string, LatencySummary>>
}

export interface OutageReport {
  readonly plugin: string
  readonly kind: OutageKind
  /** From the begin of the outage until Pulsefold said NONE; null: it did not in time. */
  readonly seenDownMs: number | null
  /** From its end until Pulsefold said COMPLETE; null: it did not in time, or the outage lasted to the end. */
  readonly seenUpMs: number | null
}

export interface SearchComparison {
  readonly trustLevel: TrustLevel
  readonly expected: number
  readonly found: number
  readonly missing: readonly string[]
  readonly unexpected: readonly string[]
}

export interface ReadDifference {
  readonly cmHandle: string
  readonly expected: TrustLevel
  readonly actual: string
}

/** A search's answer against the handles it should have. */
export function comparedSearch(
  trustLevel: TrustLevel,
  expected: readonly string[],
  found: readonly string[],
): SearchComparison {
  const wanted = new Set(expected)
  const got = new Set(found)
  return {
    trustLevel,
    expected: expected.length,
    found: found.length,
    missing: expected.filter((id) => !got.has(id)),
    unexpected: found.filter((id) => !wanted.has(id)),
  }
}

/** True when every answer was as expected. */
export function isAsExpected({ searches, reads }: Report): boolean {
  const searchesAgree = searches.every(
    ({ missing, unexpected, expected, found }) => missing.length === 0 && unexpected.length === 0 && expected === found,
  )
  return searchesAgree && reads.different.length === 0
}

/** The report as lines to read. */
export function reportLines(report: Report): readonly string[] {
  const { heartbeats, reads } = report
  return [
    `Simulated against ${report.url} with seed ${report.seed} for ${seconds(report.durationMs)}`,
    `  sent      ${report.devices} devices of ${report.plugins} plugins registered; ` +
      `heartbeats ${heartbeats.COMPLETE} COMPLETE and ${heartbeats.NONE} NONE; ${report.retries} requests repeated`,
    ...report.outages.map(outageLine),
    ...report.searches.map(searchLine),
    `  reads     ${reads.asked} asked, ${reads.different.length} different` + examples(reads.different.map(readText)),
    ...Object.entries(report.latencies).map(
      ([what, { count, p50Ms, p99Ms }]) =>
        `  latency   ${what}: p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms of ${count}`,
    ),
    isAsExpected(report) ? 'All answers are as expected.' : 'Answers DIFFER from what was expected.',
  ]
}

function outageLine({ plugin, kind, seenDownMs, seenUpMs }: OutageReport): string {
  const downText = seenDownMs === null ? 'not seen in time' : `seen down after ${seconds(seenDownMs)}`
  return `  outage    ${plugin} ${kind}: ${downText}${seenUpMs === null ? '' : `, seen up after ${seconds(seenUpMs)}`}`
}

function searchLine({ trustLevel, expected, found, missing, unexpected }: SearchComparison): string {
  const differences = `${missing.length} missing${examples(missing)}, ${unexpected.length} unexpected${examples(unexpected)}`
  return `  search    ${trustLevel}: ${found} found of ${expected} expected; ${differences}`
}

function readText({ cmHandle, expected, actual }: ReadDifference): string {
  return `${cmHandle} is ${actual} instead of ${expected}`
}

function examples(texts: readonly string[]): string {
  if (texts.length === 0) return ''
  const shown = texts.slice(0, 5).join(', ')
  return `: ${shown}${texts.length > 5 ? ` and ${texts.length - 5} more` : ''}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
