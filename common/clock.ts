/** Ends a timer before it fires; harmless afterwards. */
export type CancelTimer = () => void

/** Time and timers, injected everywhere; folds get neither. All values in ms. */
export interface Clock {
  /** Wall-clock time since 1970; may be stepped. */
  now(): number
  /** Monotonic time from an arbitrary start; never steps. */
  monotonic(): number
  /** Calls back once, not before `delayMs` of monotonic time have gone by. */
  setTimer(callback: () => void, delayMs: number): CancelTimer
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, delayMs)
    return () => clearTimeout(timer)
  },
}

/** Resolves after `delayMs` of the clock's time; at once when `signal` is aborted. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const done = (): void => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.setTimer(done, delayMs)
    signal?.addEventListener('abort', done, { once: true })
  })
}

/** What the work resolves with, or undefined after `limitMs`: it goes on, and is not waited for. Rejects as it does in that time. */
export async function within<Result>(
  clock: Clock,
  limitMs: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  const done = new AbortController()
  try {
    return await Promise.race([work, sleep(clock, limitMs, done.signal).then(() => undefined)])
  } finally {
    done.abort()
  }
}
