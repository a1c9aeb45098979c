import { createClock } from '@sinonjs/fake-timers'
import type { Clock } from './clock.js'

/** A clock that a test moves; the wall clock can be stepped apart from the monotonic one. */
export interface ManualClock extends Clock {
  /** Lets time pass: due timers fire in order, and promise chains run between them. */
  advance(ms: number): Promise<void>
  /** Steps the wall clock only, as an administrator or NTP would. */
  stepWall(ms: number): void
}

/** For tests and simulations. Starts at `startMs` (default 2026-01-01T00:00:00Z). */
export function manualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  const fake = createClock(0)
  let wallOffset = startMs
  return {
    now: () => fake.now + wallOffset,
    monotonic: () => fake.now,
    setTimer(callback, delayMs) {
      const id = fake.setTimeout(callback, delayMs)
      return () => fake.clearTimeout(id)
    },
    async advance(ms) {
      await fake.tickAsync(ms)
    },
    stepWall(ms) {
      wallOffset += ms
    },
  }
}
