import { sleep } from '../common/clock.js'
import type { Clock } from '../common/clock.js'
import { ensureError, PulsefoldError } from '../common/errors.js'
import { isDamage } from '../state-stores/errors.js'
import type { Log, DeliveredBatch } from './log/log.js'
import type { TaskEnvironment } from './task/environment.js'
import type { HeldJournal } from './task/staleness.js'
import { isFencing, Task } from './task/task.js'

export interface TaskSetOptions {
  readonly log: Log
  readonly clock: Clock
  readonly journalTopic: string
  environment(partition: number, onFailed: (error: Error) => void): TaskEnvironment
  onError(partition: number, error: Error): void
  /** Another instance has taken a task over: the group must say whose it is. */
  onFenced(): void
  /** A task cannot be opened, now or later. */
  onFatal(error: Error): void
}

interface Replacement {
  readonly stop: AbortController
  readonly done: Promise<void>
}

/** Times a damaged store is rebuilt before the start gives up: then it is the disk. */
const MAX_OPENINGS = 3
const RETRY_MS = 1000

/**
 * The tasks of one domain that this instance owns. A task whose store turns out damaged is replaced by a new one: its store
 * is set aside and rebuilt, and what the journal holds beyond it is folded again; what the group delivers meanwhile waits.
 */
export class TaskSet {
  readonly #options: TaskSetOptions
  readonly #tasks = new Map<number, Task>()
  readonly #replacements = new Map<number, Replacement>()
  #isDraining = false

  constructor(options: TaskSetOptions) {
    this.#options = options
  }

  get all(): readonly Task[] {
    return [...this.#tasks.values()]
  }

  get(partition: number): Task | undefined {
    return this.#tasks.get(partition)
  }

  /**
   * Opens the partition's task, unless that was done before; answers the journal offset to go on from. `release` is as a task's. Rejects
   * only with what is worth another try. A task that fails for good stays, says why, and is given nothing to fold.
   */
  async open(partition: number, release?: () => Promise<HeldJournal | undefined>): Promise<number> {
    for (let openings = 1; ; openings++) {
      const known = this.#tasks.get(partition)
      if (known?.isRunning === true) return known.offset
      await known?.close()
      const task = new Task(
        this.#options.environment(partition, (error) => this.#failed(partition, error)),
        release,
      )
      this.#tasks.set(partition, task)
      try {
        return await task.open()
      } catch (thrown) {
        if (isDamage(thrown) && openings < MAX_OPENINGS) continue
        if (isWorthAnotherTry(thrown)) throw thrown
        this.#options.onFatal(ensureError(thrown))
        return (await this.#options.log.offsets({ topic: this.#options.journalTopic, partition })).end
      }
    }
  }

  /** Folds a batch, once a replacement under way is done. */
  async process(batch: DeliveredBatch): Promise<void> {
    await this.#replacements.get(batch.partition)?.done
    await this.#tasks.get(batch.partition)?.process(batch)
  }

  /** The partition is about to go: a restore under way ends, and `open` rejects. */
  closing(partition: number): void {
    const task = this.#tasks.get(partition)
    if (task?.state === 'RESTORING') task.drain()
  }

  /** Resolves when the store is closed, with what is known of it. */
  async close(partition: number): Promise<HeldJournal | undefined> {
    const replacement = this.#replacements.get(partition)
    replacement?.stop.abort()
    if (replacement !== undefined) this.#tasks.get(partition)?.drain()
    await replacement?.done
    const task = this.#tasks.get(partition)
    await task?.close()
    this.#tasks.delete(partition)
    return task?.held
  }

  /** From now on nothing is waited for that may never come: no write is tried again, no restore goes on. */
  drain(): void {
    this.#isDraining = true
    for (const { stop } of this.#replacements.values()) stop.abort()
    for (const task of this.#tasks.values()) task.drain()
  }

  /**
   * The group has said that these partitions are here: their tasks that another instance took over are opened anew. That
   * instance was an owner that did not run for a while, and took the task in hand before it heard what had become of it.
   */
  reclaim(partitions: readonly number[]): void {
    for (const partition of partitions)
      if (this.#tasks.get(partition)?.isFenced === true) this.#startReplacing(partition)
  }

  #failed(partition: number, error: Error): void {
    if (isDamage(error)) this.#startReplacing(partition)
    else if (isFencing(error) && !this.#isDraining) this.#options.onFenced()
  }

  #startReplacing(partition: number): void {
    if (this.#isDraining || this.#replacements.has(partition)) return
    const stop = new AbortController()
    const done = this.#replace(partition, stop.signal).finally(() => this.#replacements.delete(partition))
    this.#replacements.set(partition, { stop, done })
  }

  async #replace(partition: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.open(partition)
        const task = await this.#catchUp(partition, signal)
        if (task?.damage === undefined) return
      } catch (thrown) {
        this.#options.onError(partition, ensureError(thrown))
      }
      await sleep(this.#options.clock, RETRY_MS, signal)
    }
  }

  /** Folds the journal to its end: no batch that the group may still deliver begins beyond that. */
  async #catchUp(partition: number, signal: AbortSignal): Promise<Task | undefined> {
    const { log, journalTopic: topic } = this.#options
    const task = this.#tasks.get(partition)
    const { end } = await log.offsets({ topic, partition })
    while (task?.isRunning === true && task.offset < end && !signal.aborted) {
      await task.process(await log.read({ topic, partition }, task.offset))
    }
    return task
  }
}

/** Brokers may not know a topic of ours for a moment; one that is gone keeps the task waiting. */
function isWorthAnotherTry(thrown: unknown): boolean {
  return thrown instanceof PulsefoldError && (thrown.retryable || thrown.code === 'TOPIC_UNKNOWN')
}
