import type { Clock } from '../../common/clock.js'
import type { Logger } from '../../common/logger.js'
import type { Metrics } from '../../common/metrics.js'

/** Between two looks at the clock. */
const LOOK_MS = 1000
/** A look that comes later than this tells of a pause. */
const LATE_MS = 1000

/**
 * Tells, by a line and a counter, when the process did nothing for a second or longer: it was stopped, starved, or its event
 * loop was blocked. Answers how to end it.
 */
export function watchPauses(clock: Clock, metrics: Metrics, logger: Logger): () => void {
  let cancel = (): void => undefined
  const look = (): void => {
    const lookedAt = clock.monotonic()
    cancel = clock.setTimer(() => {
      const pausedMs = Math.round(clock.monotonic() - lookedAt - LOOK_MS)
      if (pausedMs > LATE_MS) {
        metrics.counter('pulsefold_pauses_total', {}).increment()
        logger.warn({ pausedMs }, 'the process was paused')
      }
      look()
    }, LOOK_MS)
  }
  look()
  return () => cancel()
}
