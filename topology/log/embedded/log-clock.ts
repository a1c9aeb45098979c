import type { Clock } from '../../../common/clock.js'

/** The log's own time in whole ms: the wall clock as read once, moved on by the monotonic clock only. */
export function logClock(clock: Clock): () => number {
  const startedAt = clock.now() - clock.monotonic()
  return () => Math.floor(startedAt + clock.monotonic())
}
