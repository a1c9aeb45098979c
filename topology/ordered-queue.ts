import type { Clock } from '../common/clock.js'
import { ensureError } from '../common/errors.js'
import { LogError } from './log/errors.js'
import { retrying } from './retry.js'

export interface OrderedQueueOptions<Item, Result> {
  readonly clock: Clock
  /** Sends some items as one; a retryable failure is tried again before anything later is sent. */
  readonly send: (items: readonly Item[]) => Promise<Result>
  /** Items of one send, at most. */
  readonly maxItems: number
  /** Bytes of one send, at most (an item alone may be larger). */
  readonly maxBytes: number
  readonly sizeOf: (item: Item) => number
  readonly retryDelayMs: number
  /** Told of each failed try. */
  readonly onRetry?: (error: Error) => void
}

interface Waiter<Item, Result> {
  readonly items: readonly Item[]
  resolve(sent: Sent<Result>): void
  reject(error: unknown): void
}

/**
 * Sends in order, one send at a time; what comes meanwhile waits and goes together with the next. So a retry is never
 * overtaken, and a slow log makes larger batches instead of more of them.
 */
export class OrderedQueue<Item, Result> {
  readonly #options: OrderedQueueOptions<Item, Result>
  readonly #stop = new AbortController()
  #waiting: Waiter<Item, Result>[] = []
  #sending: Promise<void> | undefined

  constructor(options: OrderedQueueOptions<Item, Result>) {
    this.#options = options
  }

  /** Items accepted and not yet acknowledged. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#sending === undefined
  }

  /**
   * Resolves with the result of the send that carried these items, and the place of the first one in it. With `withinMs` it
   * rejects with LOG_UNAVAILABLE when that comes no sooner: items still waiting are withdrawn, those of the send under way
   * may arrive yet.
   */
  push(items: readonly Item[], withinMs?: number): Promise<Sent<Result>> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter<Item, Result> = {
        items,
        resolve(sent) {
          cancel()
          resolve(sent)
        },
        reject(error) {
          cancel()
          reject(ensureError(error))
        },
      }
      const giveUp = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter)
        reject(new LogError('LOG_UNAVAILABLE', `not acknowledged within ${withinMs} ms`))
      }
      const cancel = withinMs === undefined ? () => undefined : this.#options.clock.setTimer(giveUp, withinMs)
      this.#waiting.push(waiter)
      this.#sending ??= this.#drain()
    })
  }

  /** Gives up retries: what cannot be sent now is rejected with its error. */
  stop(): void {
    this.#stop.abort()
  }

  async #drain(): Promise<void> {
    // Lets all callers of this turn join the first send.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const taken = this.#take()
      const items = taken.flatMap((waiter) => waiter.items)
      try {
        const result = await this.#sendUntilDone(items)
        let first = 0
        for (const waiter of taken) {
          waiter.resolve({ result, first })
          first += waiter.items.length
        }
      } catch (thrown) {
        const error = ensureError(thrown)
        // One caller's fault must not reject the others: each is tried alone.
        if (taken.length > 1 && !this.#stop.signal.aborted) {
          for (const waiter of taken) {
            await this.#sendUntilDone(waiter.items).then(
              (result) => waiter.resolve({ result, first: 0 }),
              (failure: unknown) => waiter.reject(failure),
            )
          }
        } else {
          for (const waiter of taken) waiter.reject(error)
        }
      }
    }
    this.#sending = undefined
  }

  #take(): Waiter<Item, Result>[] {
    const { maxItems, maxBytes, sizeOf } = this.#options
    let count = 0
    let items = 0
    let bytes = 0
    for (const waiter of this.#waiting) {
      items += waiter.items.length
      for (const item of waiter.items) bytes += sizeOf(item)
      if (count > 0 && (items > maxItems || bytes > maxBytes)) break
      count++
    }
    return this.#waiting.splice(0, count)
  }

  #sendUntilDone(items: readonly Item[]): Promise<Result> {
    const { clock, retryDelayMs: delayMs, onRetry } = this.#options
    const { signal } = this.#stop
    return retrying({ clock, delayMs, signal, ...(onRetry && { onRetry }) }, () => this.#options.send(items))
  }
}

export interface Sent<Result> {
  readonly result: Result
  /** Index of the caller's first item among those sent together. */
  readonly first: number
}
