import { sleep } from '../../../common/clock.js'
import type { Clock } from '../../../common/clock.js'
import { ensureError } from '../../../common/errors.js'
import { partitionName } from '../../log/balanced-placement.js'
import { LogError } from '../../log/errors.js'
import type { GroupMember, GroupPosition, TopicPartition } from '../../log/log.js'

export interface AutoCommitOptions {
  readonly clock: Clock
  readonly member: () => Pick<GroupMember, 'commit'> | undefined
  /** A position that the group did not take; it is committed with the next ones. */
  readonly onError: (error: Error) => void
  /** Ends it; `flush` commits what is left. */
  readonly signal: AbortSignal
}

interface Taken {
  readonly at: TopicPartition
  readonly position: GroupPosition
}

/** Between two commits, ms: a coordinator writes each to its disk, and reading goes on meanwhile. */
const INTERVAL_MS = 50
const RETRY_MS = 1000

/**
 * Commits in the background up to where sources are taken in, those of all partitions together. What a crash leaves uncommitted is
 * taken in again and dropped as repeated. (as Kafka consumers' `enable.auto.commit`, of what is acknowledged only)
 */
export class AutoCommit {
  readonly #options: AutoCommitOptions
  readonly #taken = new Map<string, Taken>()
  readonly #underWay = new Map<string, Promise<boolean>>()
  #running = false

  constructor(options: AutoCommitOptions) {
    this.#options = options
  }

  /** All before the position is in a journal. */
  put(at: TopicPartition, position: GroupPosition): void {
    this.#taken.set(partitionName(at), { at, position })
    if (this.#running) return
    this.#running = true
    void this.#run()
  }

  /**
   * Commits what is left of a partition, before it goes to another instance. What is under way is waited for: the group would
   * take it still when the other one has committed further on.
   */
  async flush(at: TopicPartition): Promise<void> {
    const name = partitionName(at)
    await this.#underWay.get(name)
    await this.#commit(name)
    this.#taken.delete(name)
  }

  async #run(): Promise<void> {
    const { clock, signal } = this.#options
    // Lets all batches of this turn join the first commit.
    await Promise.resolve()
    while (this.#taken.size > 0 && !signal.aborted) {
      const done = await Promise.all([...this.#taken.keys()].map((name) => this.#commit(name)))
      await sleep(clock, done.includes(false) ? RETRY_MS : INTERVAL_MS, signal)
    }
    this.#running = false
  }

  /** False: the group did not take it. */
  async #commit(name: string): Promise<boolean> {
    const taken = this.#taken.get(name)
    if (taken === undefined) return true
    this.#taken.delete(name)
    const sending = this.#send(name, taken)
    this.#underWay.set(name, sending)
    return sending.finally(() => this.#underWay.delete(name))
  }

  async #send(name: string, taken: Taken): Promise<boolean> {
    try {
      await this.#options.member()?.commit(taken.at, taken.position)
      return true
    } catch (thrown) {
      const error = ensureError(thrown)
      // Another member's by now.
      if (error instanceof LogError && error.code === 'WRITER_FENCED') return true
      this.#options.onError(error)
      if (!this.#taken.has(name)) this.#taken.set(name, taken)
      return false
    }
  }
}
