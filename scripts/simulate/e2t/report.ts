import type { E2tOptions } from './simulate-e2t.js'

/** One thing that was compared. */
export interface Finding {
  readonly what: string
  readonly expected: string
  readonly actual: string
}

export interface E2tReport {
  readonly options: E2tOptions
  readonly findings: readonly Finding[]
  /** Of each dead instance: how long after its last answer its RANs were taken from it, ms. */
  readonly killedAfterMs: readonly number[]
  readonly inits: number
  readonly calls: readonly (readonly [call: string, count: number])[]
}

export function isAsExpected({ findings }: E2tReport): boolean {
  return findings.every(({ expected, actual }) => expected === actual)
}

/** The report for people. */
export function reportLines({ options, findings, killedAfterMs, inits, calls }: E2tReport): string[] {
  const { instances, ransPerInstance, deaths, stalls, restarts, seed, url } = options
  const calledLines = calls.map(([call, count]) => `  ${call}: ${count}`)
  return [
    `${instances} E2T instances with ${ransPerInstance} RANs each at ${url}, seed ${seed}: ${deaths} died, ${stalls} stalled, ${restarts} restarted; ${inits} inits`,
    ...(killedAfterMs.length === 0
      ? []
      : [
          `killed ${Math.min(...killedAfterMs)} to ${Math.max(...killedAfterMs)} ms after the last answer, as seen from outside`,
        ]),
    ...(calls.length === 0 ? [] : ['calls of the Routing Manager:', ...calledLines]),
    'expected against actual:',
    ...findings.map(({ what, expected, actual }) => {
      const mark = expected === actual ? 'ok ' : 'NOT'
      return `  ${mark} ${what}: ${expected === actual ? actual : `expected ${expected}, is ${actual}`}`
    }),
  ]
}
