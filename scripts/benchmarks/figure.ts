export type Unit = 'ms' | '/s' | 'MB' | 'times'

/** One measured value. */
export interface Figure {
  readonly what: string
  readonly value: number
  readonly unit: Unit
  /** What the value must be; absent: it is told for comparison. */
  readonly atMost?: number
  readonly atLeast?: number
  /** What the value is compared with, in words. */
  readonly compared?: string
}

export type Verdict = 'met' | 'missed' | ''

/** Whether a figure is what it must be; empty where nothing is demanded. */
export function verdictOf({ value, atMost, atLeast }: Figure): Verdict {
  if (atMost === undefined && atLeast === undefined) return ''
  return value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity) ? 'met' : 'missed'
}

/** The value that a share of the sample (0 to 1) does not exceed; NaN of none. */
export function percentile(sample: readonly number[], share: number): number {
  const sorted = sample.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? NaN
}
