import type { Clock } from '../../common/clock.js'
import type { ManualClock } from '../../common/manual-clock.js'
import type { KeyValueStore, StoreProvider } from '../../state-stores/key-value-store.js'
import type { MemoryProvider } from '../../state-stores/memory/provider.js'
import type { GroupListener, GroupMember, GroupOptions, Log, TopicPartition } from '../log/log.js'

/**
 * What one process of a cluster has of the world, and what happens to processes: it ends as by kill -9, or it is stopped
 * for a while and goes on, as by SIGSTOP and SIGCONT; its group then forgets it or not.
 */
export class TestProcess {
  readonly clock: Clock
  readonly stores: StoreProvider
  readonly log: Log
  readonly #disk: MemoryProvider
  readonly #openStores = new Set<string>()
  readonly #memberships = new Set<Membership>()
  #hasEnded = false
  #paused: Promise<void> | undefined
  #wake = (): void => undefined

  constructor(
    clock: ManualClock,
    disk: MemoryProvider,
    log: Log,
    wrapStore: (name: string, store: KeyValueStore) => KeyValueStore,
  ) {
    this.#disk = disk
    this.clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (callback, delayMs) => {
        let isCancelled = false
        const cancel = clock.setTimer(() => {
          void this.#running(() => Promise.resolve()).then(() => {
            if (!isCancelled) callback()
          })
        }, delayMs)
        return () => {
          isCancelled = true
          cancel()
        }
      },
    }
    this.stores = {
      open: (name, options) =>
        this.#running(async () => {
          const store = await disk.open(name, options)
          this.#openStores.add(name)
          return wrapStore(name, store)
        }),
      setAside: (name, reason) => this.#running(() => disk.setAside(name, reason)),
    }
    this.log = this.#wrap(log)
  }

  /** Nothing that it still does gets anywhere, and its group goes on without it. */
  async end(): Promise<void> {
    this.#hasEnded = true
    for (const name of this.#openStores) this.#disk.crash(name)
    await this.forget()
  }

  pause(): void {
    this.#paused ??= new Promise((resolve) => (this.#wake = resolve))
  }

  /** The group gives its partitions to others. */
  async forget(): Promise<void> {
    await Promise.all([...this.#memberships].map((membership) => membership.forget()))
  }

  /** Goes on where it was; what the group has forgotten learns of it only now. */
  resume(): void {
    this.#paused = undefined
    this.#wake()
  }

  /** Work on the outside, and its answer, wait while the process is stopped; after its end they never come. */
  async #running<T>(work: () => Promise<T>): Promise<T> {
    const gate = (): Promise<void> =>
      this.#hasEnded ? new Promise<never>(() => undefined) : (this.#paused ?? Promise.resolve())
    await gate()
    try {
      return await work()
    } finally {
      await gate()
    }
  }

  #wrap(log: Log): Log {
    return {
      createTopics: (specs) => this.#running(() => log.createTopics(specs)),
      topic: (name) => this.#running(() => log.topic(name)),
      topics: () => this.#running(() => log.topics()),
      append: (topic, partition, records) => this.#running(() => log.append(topic, partition, records)),
      offsets: (partition) => this.#running(() => log.offsets(partition)),
      offsetForTime: (partition, timestampMs) => this.#running(() => log.offsetForTime(partition, timestampMs)),
      read: (partition, offset, options) => this.#running(() => log.read(partition, offset, options)),
      committed: (group, partition) => this.#running(() => log.committed(group, partition)),
      writer: async (transactionalId) => {
        const writer = await this.#running(() => log.writer(transactionalId))
        return {
          append: (parts) => this.#running(() => writer.append(parts)),
          close: () => this.#running(() => writer.close()),
        }
      },
      join: async (options) => {
        const membership = new Membership(log, options, (work) => this.#running(work))
        this.#memberships.add(membership)
        await membership.join()
        return membership
      },
      close: () => this.#running(() => log.close()),
    }
  }
}

/** A membership that the group can forget while the process does not run. */
class Membership implements GroupMember {
  readonly #log: Log
  readonly #options: GroupOptions
  readonly #running: <T>(work: () => Promise<T>) => Promise<T>
  #member: GroupMember | undefined
  #hasLeft = false

  constructor(log: Log, options: GroupOptions, running: <T>(work: () => Promise<T>) => Promise<T>) {
    this.#log = log
    this.#options = options
    this.#running = running
  }

  get assignment(): readonly TopicPartition[] {
    return this.#member?.assignment ?? []
  }
  get isCurrent(): boolean {
    return this.#member?.isCurrent === true
  }
  members(): ReturnType<GroupMember['members']> {
    return this.#member?.members() ?? []
  }
  rejoin(): void {
    this.#member?.rejoin()
  }
  commit(...args: Parameters<GroupMember['commit']>): Promise<void> {
    return this.#running(async () => this.#joined().commit(...args))
  }
  committed(...args: Parameters<GroupMember['committed']>): ReturnType<GroupMember['committed']> {
    return this.#running(async () => this.#joined().committed(...args))
  }
  seek(...args: Parameters<GroupMember['seek']>): void {
    this.#joined().seek(...args)
  }
  pause(partition: TopicPartition): void {
    this.#member?.pause(partition)
  }
  resume(partition: TopicPartition): void {
    this.#member?.resume(partition)
  }
  async leave(): Promise<void> {
    this.#hasLeft = true
    await this.#member?.leave()
  }

  async join(): Promise<void> {
    let isForgotten = false
    let forget = (): void => undefined
    const forgotten = new Promise<void>((resolve) => (forget = resolve))
    const { listener } = this.#options
    // What the group says to a member that it has forgotten, the process never hears; nor does the group wait for it.
    const pending = new Set<Promise<unknown>>()
    const heard = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
      if (isForgotten) return otherwise
      const done = this.#running(work)
      pending.add(done)
      void done.catch(() => undefined).then(() => pending.delete(done))
      return Promise.race([done, forgotten.then(() => otherwise)])
    }
    const wrapped: GroupListener = {
      onAssigned: (partitions) => heard(() => listener.onAssigned(partitions), []),
      onRevoking: (partitions) => {
        if (!isForgotten) listener.onRevoking?.(partitions)
      },
      onRevoked: (partitions) => heard(() => listener.onRevoked(partitions), undefined),
      onBatch: (batch) => heard(() => listener.onBatch(batch), undefined),
      onMembers: (members) => {
        if (!isForgotten) listener.onMembers?.(members)
      },
      onGap: (gap) => listener.onGap(gap),
      onError: (error) => listener.onError(error),
    }
    this.#member = await this.#running(() => this.#log.join({ ...this.#options, listener: wrapped }))
    this.#forget = async () => {
      const member = this.#joined()
      const held = [...member.assignment]
      this.#member = undefined
      isForgotten = true
      forget()
      await member.leave()
      // The process learns of it when it runs again.
      void this.#running(() => Promise.resolve()).then(async () => {
        listener.onRevoking?.(held)
        await Promise.allSettled(pending)
        await listener.onRevoked(held)
        listener.onMembers?.([])
        if (!this.#hasLeft) await this.join()
      })
    }
  }

  async forget(): Promise<void> {
    if (this.#member !== undefined) await this.#forget()
  }

  #forget: () => Promise<void> = () => Promise.resolve()

  #joined(): GroupMember {
    if (this.#member === undefined) throw new Error('the group has forgotten this member')
    return this.#member
  }
}
