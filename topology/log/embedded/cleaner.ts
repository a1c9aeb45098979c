import type { Clock, CancelTimer } from '../../../common/clock.js'
import { ensureError } from '../../../common/errors.js'
import type { TopicPartition, TopicSpec } from '../log.js'
import { compact } from './compaction.js'
import type { CompactionOptions } from './compaction.js'
import type { Partition } from './partition.js'
import type { TopicRegistry } from './topic-registry.js'

/** Compaction by the timer waits until so many records came since the last time, and half as many as it left then. */
const worthwhileRecords = 10_000

export interface CleanerOptions extends Omit<CompactionOptions, 'stopping'> {
  readonly clock: Clock
  readonly cleanIntervalMs: number
  readonly onError: (error: Error) => void
}

/** Deletes what retention allows and compacts, partition by partition, one at a time. */
export class Cleaner {
  readonly #topics: TopicRegistry
  readonly #options: CleanerOptions
  readonly #keptRecords = new Map<Partition, number>()
  #work: Promise<void> = Promise.resolve()
  #cancelTimer: CancelTimer | undefined
  readonly #stopping = new AbortController()

  constructor(topics: TopicRegistry, options: CleanerOptions) {
    this.#topics = topics
    this.#options = options
    this.#schedule()
  }

  clean(): Promise<void> {
    return this.#enqueue(() => this.#cleanAll(1))
  }

  deleteBefore({ topic, partition }: TopicPartition, offset: number): Promise<void> {
    return this.#enqueue(() => this.#topics.partition({ topic, partition }).deleteBefore(offset))
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    this.#cancelTimer?.()
    await this.#work
  }

  #schedule(): void {
    if (this.#stopping.signal.aborted) return
    this.#cancelTimer = this.#options.clock.setTimer(() => {
      this.#enqueue(() => this.#cleanAll(worthwhileRecords))
        .catch((error: unknown) => this.#options.onError(ensureError(error)))
        .finally(() => this.#schedule())
    }, this.#options.cleanIntervalMs)
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const done = this.#work.then(task)
    this.#work = done.catch(() => undefined)
    return done
  }

  async #cleanAll(minRecords: number): Promise<void> {
    for (const { spec, partitions } of [...this.#topics.all()]) {
      for (const partition of partitions) {
        if (this.#stopping.signal.aborted) return
        if (spec.cleanup === 'delete') await this.#expire(partition, spec)
        else await this.#compact(partition, minRecords)
      }
    }
  }

  /** Goes by the time of the append, not by the producer's stamp: a wrong clock elsewhere deletes nothing early. */
  async #expire(partition: Partition, { retentionMs, retentionBytes }: TopicSpec): Promise<void> {
    const oldestMs = retentionMs < 0 ? -Infinity : this.#options.now() - retentionMs
    const deletableBytes = retentionBytes < 0 ? -Infinity : partition.endBytes - retentionBytes
    if (oldestMs < 0 && deletableBytes <= 0) return
    const kept = await partition.batches.first(
      partition.start,
      partition.end,
      ({ appendedAt, endBytes }) => appendedAt >= oldestMs && endBytes > deletableBytes,
    )
    await partition.deleteBefore(kept?.base ?? partition.end)
  }

  async #compact(partition: Partition, minRecords: number): Promise<void> {
    const newRecords = partition.end - partition.cleanedTo
    const kept = this.#keptRecords.get(partition) ?? 0
    if (newRecords < minRecords || (minRecords > 1 && newRecords < kept / 2)) return
    this.#keptRecords.set(partition, await compact(partition, { ...this.#options, stopping: this.#stopping.signal }))
  }
}
