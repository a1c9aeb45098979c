import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import { partitionName } from '../log/balanced-placement.js'
import { LogError } from '../log/errors.js'
import type {
  DeliveredBatch,
  GroupListener,
  GroupMember,
  GroupOptions,
  Log,
  ReadingStart,
  TopicPartition,
} from '../log/log.js'

/** Where the process stands in a partition that it was given. */
interface Reading {
  next: number
  isPaused: boolean
  /** Resolves when no batch of it is under way. */
  done: Promise<unknown>
}

/** Between two reads of a process that goes on by itself, ms. */
const POLL_MS = 20

/** A membership that the group can forget, while the process does not run or while it does not know of it. */
export class TestMembership implements GroupMember {
  readonly #log: Log
  readonly #options: GroupOptions
  readonly #clock: Clock
  /** How fast it runs, of the clock that the log has. */
  readonly #clockRate: number
  readonly #running: <T>(work: () => Promise<T>) => Promise<T>
  readonly #readings = new Map<string, Reading>()
  #member: GroupMember | undefined
  #hasLeft = false
  /** Aborted when the process hears that the group has forgotten it, and what it does then. */
  #told = new AbortController()
  #learning: Promise<void> = Promise.resolve()
  /** So many of the next batches are told to have failed when they have been taken, and come again. */
  repeats = 0

  constructor(
    log: Log,
    options: GroupOptions,
    { clock, clockRate }: { readonly clock: Clock; readonly clockRate: number },
    running: <T>(work: () => Promise<T>) => Promise<T>,
  ) {
    this.#log = log
    this.#options = options
    this.#clock = clock
    this.#clockRate = clockRate
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
  seek(to: ReadingStart): void {
    const reading = this.#readings.get(partitionName(to))
    if (reading !== undefined) reading.next = to.offset
    this.#member?.seek(to)
  }
  pause(at: TopicPartition): void {
    const reading = this.#readings.get(partitionName(at))
    if (reading !== undefined) reading.isPaused = true
    this.#member?.pause(at)
  }
  resume(at: TopicPartition): void {
    const reading = this.#readings.get(partitionName(at))
    if (reading !== undefined) reading.isPaused = false
    this.#member?.resume(at)
  }
  async leave(): Promise<void> {
    this.#hasLeft = true
    this.#told.abort()
    await this.#member?.leave()
    await this.#learning
  }

  async join(): Promise<void> {
    const { listener } = this.#options
    let isForgotten = false
    let forget = (): void => undefined
    const forgotten = new Promise<void>((resolve) => (forget = resolve))
    const pending = new Set<Promise<unknown>>()
    // What the group says to a member that it has forgotten, the process never hears; nor does the group wait for it.
    const heard = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
      if (isForgotten) return otherwise
      const done = this.#running(work)
      pending.add(done)
      void done.catch(() => undefined).then(() => pending.delete(done))
      return Promise.race([done, forgotten.then(() => otherwise)])
    }
    const wrapped: GroupListener = {
      onAssigned: (partitions) => heard(() => this.#assigned(partitions), []),
      onRevoking: (partitions) => {
        if (!isForgotten) listener.onRevoking?.(partitions)
      },
      onRevoked: (partitions) => heard(() => this.#revoked(partitions), undefined),
      onBatch: (batch) => heard(() => this.#take(batch), undefined),
      onPassedOver: (passed) => {
        if (!isForgotten) listener.onPassedOver?.(passed)
      },
      onMembers: (members) => {
        if (!isForgotten) listener.onMembers?.(members)
      },
      onGap: (gap) => listener.onGap(gap),
      onError: (error) => listener.onError(error),
    }
    this.#member = await this.#running(() => this.#log.join({ ...this.#options, listener: wrapped }))
    this.#forget = async (unawareMs) => {
      const member = this.#joined()
      const held = [...member.assignment]
      this.#member = undefined
      isForgotten = true
      forget()
      const alone = this.#goOnAlone(held, unawareMs)
      await member.leave()
      // The process learns of it when it runs again.
      this.#learning = alone.then(async () => {
        listener.onRevoking?.(held)
        await Promise.allSettled(pending)
        await listener.onRevoked(held)
        listener.onMembers?.([])
        if (!this.#hasLeft) await this.join()
      })
    }
  }

  /** `unawareMs`: the process runs, and takes itself for a member for so long. */
  async forget(unawareMs = 0): Promise<void> {
    if (this.#member !== undefined) await this.#forget(unawareMs)
  }

  #forget: (unawareMs: number) => Promise<void> = () => Promise.resolve()

  async #assigned(partitions: readonly TopicPartition[]): ReturnType<GroupListener['onAssigned']> {
    const starts = await this.#options.listener.onAssigned(partitions)
    for (const { offset, ...at } of starts) {
      const known = this.#readings.get(partitionName(at))
      // It may have been paused while it was assigned.
      const reading = { next: offset, isPaused: false, done: Promise.resolve() }
      this.#readings.set(partitionName(at), { ...reading, isPaused: known?.isPaused === true })
    }
    return starts
  }

  async #revoked(partitions: readonly TopicPartition[]): Promise<void> {
    await this.#options.listener.onRevoked(partitions)
    for (const at of partitions) this.#readings.delete(partitionName(at))
  }

  async #take(batch: DeliveredBatch): Promise<void> {
    const reading = this.#readings.get(partitionName(batch))
    const from = reading?.next
    const taken = this.#options.listener.onBatch(this.#onOwnClock(batch))
    if (reading !== undefined) reading.done = taken.catch(() => undefined)
    await taken
    if (reading !== undefined && reading.next === from) reading.next = batch.next
    if (this.repeats > 0) {
      this.repeats--
      throw new LogError('LOG_UNAVAILABLE', 'the answer to a batch was lost')
    }
  }

  /** The log reads on the world's clock. */
  #onOwnClock(batch: DeliveredBatch): DeliveredBatch {
    return batch.readAt === undefined ? batch : { ...batch, readAt: batch.readAt * this.#clockRate }
  }

  /** What a process does that the group has forgotten: it reads on and takes in what it reads, until it is told. */
  async #goOnAlone(held: readonly TopicPartition[], unawareMs: number): Promise<void> {
    const told = new AbortController()
    this.#told = told
    const pumps = unawareMs === 0 ? [] : held.map((at) => this.#pump(at, told.signal))
    if (unawareMs > 0) await sleep(this.#clock, unawareMs, told.signal)
    told.abort()
    await this.#running(() => Promise.all(pumps))
  }

  async #pump(at: TopicPartition, told: AbortSignal): Promise<void> {
    const reading = this.#readings.get(partitionName(at))
    await reading?.done
    const before = await this.#log.topic(at.topic).catch(() => undefined)
    while (reading !== undefined && !told.aborted) {
      if (!reading.isPaused) await this.#takeNext(at, reading, before?.incarnation)
      await sleep(this.#clock, POLL_MS, told)
    }
  }

  async #takeNext(at: TopicPartition, reading: Reading, incarnation: string | undefined): Promise<void> {
    try {
      // A topic made anew has no leader that this reader knows.
      if ((await this.#log.topic(at.topic))?.incarnation !== incarnation) return
      const batch = await this.#running(() => this.#log.read(at, reading.next))
      if (batch.records.length === 0) return
      await this.#options.listener.onBatch(batch)
      reading.next = batch.next
    } catch (thrown) {
      this.#options.listener.onError(ensureError(thrown))
    }
  }

  #joined(): GroupMember {
    if (this.#member === undefined) throw new LogError('WRITER_FENCED', 'the group has forgotten this member')
    return this.#member
  }
}
