/** Lets a bounded number of tasks run at once; the others wait in order of arrival. */
export interface Gate {
  /** Runs `task` when its turn comes; rejects with the signal's reason, without running it, when aborted before. */
  run<Result>(signal: AbortSignal, task: () => Promise<Result>): Promise<Result>
}

export function createGate(limit: number): Gate {
  const waiting = new Set<() => void>()
  let running = 0

  function turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (running < limit) {
      running++
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        waiting.delete(enter)
        reject(signal.reason as Error)
      }
      waiting.add(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  function pass(): void {
    const [next] = waiting
    if (next === undefined) {
      running--
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    async run(signal, task) {
      await turn(signal)
      try {
        return await task()
      } finally {
        pass()
      }
    },
  }
}
