import type { Clock } from '../../../common/clock.js'
import type { KeyValueStore, WriteOperation } from '../../../state-stores/key-value-store.js'
import { LogError } from '../errors.js'
import { logErrorOf } from './store-failure.js'

const maxWriteBytes = 4 * 1024 * 1024
/** What waits is written at once from here on; less of it waits for company. */
const fullWriteBytes = 16 * 1024

export interface WriteQueueOptions {
  readonly clock: Clock
  /** Bytes that may wait for the disk. */
  readonly maxWaitingBytes: number
  /** From the end of a write to the next, while little waits; 0: none. */
  readonly lingerMs: number
}

/** A write that has its place: what to do when it is durable, and when it failed. */
export interface PreparedWrite<T> {
  applied(): T
  undo(): void
}

interface WaitingWrite {
  readonly bytes: number
  /** Adds the operations; answers how to settle the write. */
  prepare(operations: WriteOperation[]): SettledBy
  reject(error: unknown): void
}

interface SettledBy {
  applied(): void
  failed(error: LogError): void
}

/**
 * Group commit: whatever waits goes to disk in one store write with `sync`, in the order submitted, one write at a time;
 * so an fsync is paid once for all callers that wait. A write after a pause goes at once; one soon after another lingers,
 * as Kafka's producers do: on a quick disk there would otherwise be one for each of a thousand records a second, and all that
 * reads them would be woken as often.
 */
export class WriteQueue {
  readonly #store: KeyValueStore
  readonly #options: WriteQueueOptions
  #waiting: WaitingWrite[] = []
  #waitingBytes = 0
  #running: Promise<void> | undefined
  #endLinger = (): void => undefined
  #closed = false

  constructor(store: KeyValueStore, options: WriteQueueOptions) {
    this.#store = store
    this.#options = options
  }

  /**
   * `prepare` runs when the write's turn has come and adds its operations; when it throws, this write alone is rejected.
   * Errors: LOG_CLOSED, LOG_UNAVAILABLE (the store failed, or too much waits already), LOG_DAMAGED.
   */
  submit<T>(bytes: number, prepare: (operations: WriteOperation[]) => PreparedWrite<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new LogError('LOG_CLOSED', 'the log is closed'))
    const { maxWaitingBytes } = this.#options
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > maxWaitingBytes) {
      const message = `${this.#waitingBytes} bytes wait for the disk already`
      return Promise.reject(new LogError('LOG_UNAVAILABLE', message, { details: { maxWaitingBytes } }))
    }
    return new Promise<T>((resolve, reject) => {
      this.#waitingBytes += bytes
      this.#waiting.push({
        bytes,
        reject,
        prepare(operations) {
          const prepared = prepare(operations)
          return {
            applied: () => resolve(prepared.applied()),
            failed(error) {
              prepared.undo()
              reject(error)
            },
          }
        },
      })
      if (this.#waitingBytes >= fullWriteBytes) this.#endLinger()
      // A turn of the microtask queue later, so that all appends of one tick share the write.
      this.#running ??= Promise.resolve().then(() => this.#run())
    })
  }

  /** Refuses later writes and waits for those under way. */
  async close(): Promise<void> {
    this.#closed = true
    this.#endLinger()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#writeOnce(this.#take())
      await this.#linger()
    }
    this.#running = undefined
  }

  #linger(): Promise<void> | undefined {
    const { clock, lingerMs } = this.#options
    if (lingerMs === 0 || this.#closed || this.#waitingBytes >= fullWriteBytes) return undefined
    return new Promise((resolve) => {
      const cancel = clock.setTimer(resolve, lingerMs)
      this.#endLinger = () => {
        cancel()
        resolve()
      }
    })
  }

  #take(): WaitingWrite[] {
    let count = 0
    for (let bytes = 0; count < this.#waiting.length && bytes < maxWriteBytes; count++) {
      bytes += this.#waiting[count]?.bytes ?? 0
    }
    return this.#waiting.splice(0, count)
  }

  async #writeOnce(writes: readonly WaitingWrite[]): Promise<void> {
    const operations: WriteOperation[] = []
    const prepared: SettledBy[] = []
    for (const write of writes) {
      try {
        prepared.push(write.prepare(operations))
      } catch (error) {
        write.reject(error)
      }
    }
    const failure =
      operations.length === 0
        ? undefined
        : await this.#store.write(operations, { sync: true }).then(() => undefined, logErrorOf)
    for (const write of writes) this.#waitingBytes -= write.bytes
    for (const write of prepared) {
      if (failure === undefined) write.applied()
      else write.failed(failure)
    }
  }
}
