import type { Clock } from '../../common/clock.js'

/** Lets one line through for each key and time; the others are counted, and told with the next that passes. */
export interface Throttle {
  /** undefined: not now. Else how many lines of this key were left out since the last that passed. */
  pass(key: string): number | undefined
}

/** Beyond so many keys all are forgotten: they come from a bounded number of places. */
const MAX_KEYS = 10_000

export function throttle(clock: Pick<Clock, 'monotonic'>, everyMs: number): Throttle {
  const passed = new Map<string, { at: number; left: number }>()
  return {
    pass(key) {
      const now = clock.monotonic()
      const last = passed.get(key)
      if (last !== undefined && now - last.at < everyMs) {
        last.left++
        return undefined
      }
      if (passed.size >= MAX_KEYS) passed.clear()
      passed.set(key, { at: now, left: 0 })
      return last?.left ?? 0
    },
  }
}
