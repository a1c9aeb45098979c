import { Standby } from '../task/standby.js'
import type { StandbyEnvironment } from '../task/standby.js'
import type { HeldJournal } from '../task/staleness.js'

/** The standbys of one domain at this instance. */
export class StandbySet {
  readonly #environment: (partition: number) => StandbyEnvironment
  readonly #standbys = new Map<number, Standby>()
  /** Those that are being closed: their stores are still open. */
  readonly #closing = new Map<number, Promise<void>>()

  /** What was known of the stores when a standby, or a task, let them go. */
  readonly #held = new Map<number, HeldJournal>()

  constructor(environment: (partition: number) => StandbyEnvironment) {
    this.#environment = environment
  }

  get all(): readonly Standby[] {
    return [...this.#standbys.values()]
  }

  get(partition: number): Standby | undefined {
    return this.#standbys.get(partition)
  }

  /**
   * From now on exactly these are stood by for, and for those promoted until their tasks release them; opening and closing go on
   * in the background.
   */
  assign(partitions: readonly number[], promoted: readonly number[] = []): void {
    for (const partition of this.#standbys.keys()) {
      if (!partitions.includes(partition) && !promoted.includes(partition)) void this.release(partition)
    }
    for (const partition of partitions) {
      if (this.#standbys.has(partition)) continue
      const standby = new Standby(this.#environment(partition), this.#held.get(partition))
      this.#standbys.set(partition, standby)
      const former = this.#closing.get(partition)
      if (former === undefined) standby.start()
      else void former.then(() => standby.start())
    }
  }

  /** The task of the partition has closed its store; a standby of it would go on from there. */
  inherit(partition: number, held: HeldJournal | undefined): void {
    if (held !== undefined) this.#held.set(partition, held)
  }

  /** Resolves when the store of the partition is closed, so that its task can open it, with what is known of it. */
  async release(partition: number): Promise<HeldJournal | undefined> {
    const standby = this.#standbys.get(partition)
    if (standby !== undefined) {
      this.#standbys.delete(partition)
      if (standby.held !== undefined) this.#held.set(partition, standby.held)
      const former = this.#closing.get(partition)
      const closing = Promise.all([former, standby.close()]).then(() => {
        if (this.#closing.get(partition) === closing) this.#closing.delete(partition)
      })
      this.#closing.set(partition, closing)
    }
    await this.#closing.get(partition)
    return this.#held.get(partition)
  }

  async close(): Promise<void> {
    this.assign([])
    await Promise.all(this.#closing.values())
  }
}
