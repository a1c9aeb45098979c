import { sleep } from '../common/clock.js'
import type { Clock } from '../common/clock.js'
import { ensureError, PulsefoldError } from '../common/errors.js'

export interface RetryOptions {
  readonly clock: Clock
  readonly delayMs: number
  /** Once aborted, the next failure is the last. */
  readonly signal: AbortSignal
  /** Told of each failed try but the last. */
  onRetry?(error: Error): void
}

/** A later try may succeed; a closed log stays closed. */
export function isWorthRetry(error: unknown): boolean {
  return error instanceof PulsefoldError && error.retryable && error.code !== 'LOG_CLOSED'
}

/** Does it again, after a pause, for as long as it fails with what is worth another try. */
export async function retrying<Result>(options: RetryOptions, work: () => Promise<Result>): Promise<Result> {
  const { clock, delayMs, signal } = options
  for (;;) {
    try {
      return await work()
    } catch (thrown) {
      if (!isWorthRetry(thrown) || signal.aborted) throw thrown
      options.onRetry?.(ensureError(thrown))
      await sleep(clock, delayMs, signal)
    }
  }
}
