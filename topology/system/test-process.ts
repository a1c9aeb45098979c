import type { Clock } from '../../common/clock.js'
import type { ManualClock } from '../../common/manual-clock.js'
import type { KeyValueStore, StoreProvider } from '../../state-stores/key-value-store.js'
import type { MemoryProvider } from '../../state-stores/memory/provider.js'
import type { Log } from '../log/log.js'
import { TestMembership } from './test-membership.js'

/** What a process is given of the world. */
export interface ProcessWorld {
  readonly clock: ManualClock
  readonly disk: MemoryProvider
  readonly log: Log
  readonly wrapStore: (name: string, store: KeyValueStore) => KeyValueStore
  /** ms by which its wall clock is ahead; default 0. */
  readonly skewMs?: number
  /** How fast its monotonic clock runs; default 1. */
  readonly clockRate?: number
  /** Called whenever it does something to the outside, or is told something. */
  readonly onActivity?: () => void
}

/**
 * What one process of a cluster has of the world, and what happens to processes: it ends as by kill -9, or it is stopped
 * for a while and goes on, as by SIGSTOP and SIGCONT; its group then forgets it or not.
 */
export class TestProcess {
  readonly clock: Clock
  readonly stores: StoreProvider
  readonly log: Log
  readonly #world: ProcessWorld
  readonly #openStores = new Set<string>()
  readonly #memberships = new Set<TestMembership>()
  #hasEnded = false
  readonly #atEnd: (() => void)[] = []
  #paused: Promise<void> | undefined
  #wake = (): void => undefined

  constructor(world: ProcessWorld) {
    this.#world = world
    const { clock, disk, skewMs = 0, clockRate = 1, wrapStore } = world
    this.clock = {
      now: () => clock.now() + skewMs,
      monotonic: () => clock.monotonic() * clockRate,
      setTimer: (callback, delayMs) => {
        let isCancelled = false
        const fire = (): void => {
          void this.running(() => Promise.resolve()).then(() => {
            if (!isCancelled) callback()
          })
        }
        const cancel = clock.setTimer(fire, Math.ceil(delayMs / clockRate))
        return () => {
          isCancelled = true
          cancel()
        }
      },
    }
    this.stores = {
      open: (name, options) =>
        this.running(async () => {
          const store = await disk.open(name, options)
          this.#openStores.add(name)
          return wrapStore(name, store)
        }),
      setAside: (name, reason) => this.running(() => disk.setAside(name, reason)),
    }
    this.log = this.#wrap(world.log)
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }
  get isPaused(): boolean {
    return this.#paused !== undefined
  }

  /** Nothing that it still does gets anywhere, and its group goes on without it. */
  async end(): Promise<void> {
    this.#hasEnded = true
    for (const name of this.#openStores) this.#world.disk.crash(name)
    for (const tell of this.#atEnd.splice(0)) tell()
    await this.forget()
  }

  /** Called when the process ends; at once when it has. */
  onEnd(tell: () => void): void {
    if (this.#hasEnded) tell()
    else this.#atEnd.push(tell)
  }

  pause(): void {
    this.#paused ??= new Promise((resolve) => (this.#wake = resolve))
  }

  /** The group gives its partitions to others; the process learns of it when it runs. */
  async forget(): Promise<void> {
    await Promise.all([...this.#memberships].map((membership) => membership.forget()))
  }

  /** The group gives its partitions to others, and the process, which runs, reads on for so long until it learns of it. */
  async loseLease(unawareMs: number): Promise<void> {
    await Promise.all([...this.#memberships].map((membership) => membership.forget(unawareMs)))
  }

  /** The next batches, so many, are delivered twice. */
  repeatBatches(count: number): void {
    for (const membership of this.#memberships) membership.repeats += count
  }

  /** Goes on where it was; what the group has forgotten learns of it only now. */
  resume(): void {
    this.#paused = undefined
    this.#wake()
  }

  /** Work on the outside, and its answer, wait while the process is stopped; after its end they never come. */
  async running<T>(work: () => Promise<T>): Promise<T> {
    const gate = (): Promise<void> =>
      this.#hasEnded ? new Promise<never>(() => undefined) : (this.#paused ?? Promise.resolve())
    this.#world.onActivity?.()
    await gate()
    try {
      return await work()
    } finally {
      this.#world.onActivity?.()
      await gate()
    }
  }

  #wrap(log: Log): Log {
    return {
      createTopics: (specs) => this.running(() => log.createTopics(specs)),
      topic: (name) => this.running(() => log.topic(name)),
      topics: () => this.running(() => log.topics()),
      append: (topic, partition, records) => this.running(() => log.append(topic, partition, records)),
      offsets: (partition) => this.running(() => log.offsets(partition)),
      offsetForTime: (partition, timestampMs) => this.running(() => log.offsetForTime(partition, timestampMs)),
      read: (partition, offset, options) => this.running(() => log.read(partition, offset, options)),
      committed: (group, partition) => this.running(() => log.committed(group, partition)),
      writer: async (transactionalId) => {
        const writer = await this.running(() => log.writer(transactionalId))
        return {
          append: (parts) => this.running(() => writer.append(parts)),
          close: () => this.running(() => writer.close()),
        }
      },
      join: async (options) => {
        const membership = new TestMembership(
          log,
          options,
          { clock: this.clock, clockRate: this.#world.clockRate ?? 1 },
          (work) => this.running(work),
        )
        this.#memberships.add(membership)
        await membership.join()
        return membership
      },
      close: () => this.running(() => log.close()),
    }
  }
}
