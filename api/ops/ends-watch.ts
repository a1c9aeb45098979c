import type { CancelTimer, Clock } from '../../common/clock.js'
import type { Log } from '../../topology/log/log.js'

/** Where a topic's partitions end, looked at once for all who follow it, and not at all while nobody does. */
export interface EndsWatch {
  readonly ends: readonly number[]
  /** Resolves with true when some end has moved, with false after `idleMs` or when the signal is aborted. */
  moved(idleMs: number, signal: AbortSignal): Promise<boolean>
}

const POLL_MS = 100

export function watchEnds(log: Log, clock: Clock, topic: string, initial: readonly number[]): EndsWatch {
  let ends = initial
  let cancelPoll: CancelTimer | undefined
  const waiting = new Set<(moved: boolean) => void>()

  async function look(): Promise<void> {
    try {
      const seen = await Promise.all(ends.map((_, partition) => log.offsets({ topic, partition })))
      const hasMoved = seen.some(({ end }, partition) => end !== ends[partition])
      ends = seen.map(({ end }) => end)
      if (hasMoved) for (const done of [...waiting]) done(true)
    } catch {
      // The log is closing or not reachable: followers stay quiet until it is back, or are ended by their signals.
    }
  }

  function poll(): void {
    cancelPoll = undefined
    void look().then(() => {
      if (waiting.size > 0) cancelPoll ??= clock.setTimer(poll, POLL_MS)
    })
  }

  return {
    get ends() {
      return ends
    },
    moved: (idleMs, signal) =>
      new Promise((resolve) => {
        const done = (hasMoved: boolean): void => {
          cancelIdle()
          signal.removeEventListener('abort', onAbort)
          waiting.delete(done)
          resolve(hasMoved)
        }
        const onAbort = (): void => done(false)
        const cancelIdle = clock.setTimer(onAbort, signal.aborted ? 0 : idleMs)
        signal.addEventListener('abort', onAbort, { once: true })
        waiting.add(done)
        cancelPoll ??= clock.setTimer(poll, POLL_MS)
      }),
  }
}
