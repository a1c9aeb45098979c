interface Waiter {
  readonly offset: number
  readonly resolve: () => void
}

/** Callers that wait until a journal offset is folded. */
export class PositionWaiters {
  readonly #waiting = new Set<Waiter>()

  get size(): number {
    return this.#waiting.size
  }

  /** Resolves when the record at `offset` is folded, when all are woken, or at the end of `signal`. */
  wait(offset: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const waiter: Waiter = {
        offset,
        resolve: () => {
          this.#waiting.delete(waiter)
          signal.removeEventListener('abort', waiter.resolve)
          resolve()
        },
      }
      this.#waiting.add(waiter)
      signal.addEventListener('abort', waiter.resolve)
    })
  }

  /** All records before `next` are folded. */
  folded(next: number): void {
    for (const waiter of this.#waiting) if (waiter.offset < next) waiter.resolve()
  }

  wakeAll(): void {
    for (const waiter of this.#waiting) waiter.resolve()
  }
}
