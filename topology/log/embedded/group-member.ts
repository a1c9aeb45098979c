import { sleep } from '../../../common/clock.js'
import { ensureError } from '../../../common/errors.js'
import type { GroupMember, GroupPosition, MemberView, Placement, ReadingStart, TopicPartition } from '../log.js'
import type { DeliveryOptions } from './delivery.js'
import { backoffMs, Delivery } from './delivery.js'
import type { Partition } from './partition.js'

/** What a member needs of the log and of its group. */
export interface MemberContext extends DeliveryOptions {
  readonly topics: readonly string[]
  readonly describe?: () => Buffer
  readonly placement?: Placement
  find(partition: TopicPartition): Partition
  /** Errors: WRITER_FENCED when the member does not hold the partition (any more). */
  commit(partition: TopicPartition, position: GroupPosition): Promise<void>
  committed(partition: TopicPartition): Promise<GroupPosition | undefined>
  rejoin(): void
  leave(): Promise<void>
}

/** One member of a group: the partitions it holds, each with its delivery. */
export class EmbeddedGroupMember implements GroupMember {
  readonly #context: MemberContext
  readonly #held = new Map<Partition, Delivery>()
  /** What it told at the last rebalance. */
  #data: Buffer = Buffer.alloc(0)
  #members: readonly MemberView[] = []
  #left: Promise<void> | undefined
  #releasing: Promise<void> = Promise.resolve()

  constructor(context: MemberContext) {
    this.#context = context
  }

  get topics(): readonly string[] {
    return this.#context.topics
  }

  get assignment(): readonly TopicPartition[] {
    return [...this.#held.keys()].map(nameOf)
  }

  get placement(): Placement | undefined {
    return this.#context.placement
  }

  get data(): Buffer {
    return this.#data
  }

  /** One process: the group always knows of it. */
  get isCurrent(): boolean {
    return this.#left === undefined
  }

  members(): readonly MemberView[] {
    return this.#members
  }

  rejoin(): void {
    this.#context.rejoin()
  }

  describe(): Buffer {
    this.#data = this.#context.describe?.() ?? Buffer.alloc(0)
    return this.#data
  }

  see(members: readonly MemberView[]): void {
    this.#members = members
    this.#context.listener.onMembers?.(members)
  }

  holds(partition: Partition): boolean {
    return this.#held.has(partition)
  }

  commit(partition: TopicPartition, position: GroupPosition): Promise<void> {
    return this.#context.commit(partition, position)
  }

  committed(partition: TopicPartition): Promise<GroupPosition | undefined> {
    return this.#context.committed(partition)
  }

  pause(partition: TopicPartition): void {
    this.#held.get(this.#context.find(partition))?.pause()
  }

  resume(partition: TopicPartition): void {
    this.#held.get(this.#context.find(partition))?.resume()
  }

  seek(to: ReadingStart): void {
    this.#held.get(this.#context.find(to))?.seek(to.offset)
  }

  leave(): Promise<void> {
    this.#left ??= this.#context.leave()
    return this.#left
  }

  /** Gives up what is not in `kept`, once what was to be given up before is; resolves when the listener has let go of it. */
  release(kept: ReadonlySet<Partition>): Promise<void> {
    this.#releasing = this.#releasing.then(() => this.#release(kept))
    return this.#releasing
  }

  async #release(kept: ReadonlySet<Partition>): Promise<void> {
    const going = [...this.#held.values()].filter((delivery) => !kept.has(delivery.partition))
    if (going.length === 0) return
    for (const delivery of going) delivery.stop()
    this.#context.listener.onRevoking?.(going.map(({ partition }) => nameOf(partition)))
    await Promise.all(going.map((delivery) => delivery.done))
    try {
      await this.#context.listener.onRevoked(going.map(({ partition }) => nameOf(partition)))
    } catch (error) {
      this.#context.listener.onError(ensureError(error))
    }
    for (const { partition } of going) this.#held.delete(partition)
  }

  /** Takes what is not yet held; delivery begins when the listener has said where. */
  take(assigned: ReadonlySet<Partition>): void {
    const deliveries = [...assigned]
      .filter((partition) => !this.#held.has(partition))
      .map((partition) => new Delivery(partition, this.#context))
    if (deliveries.length === 0) return
    for (const delivery of deliveries) this.#held.set(delivery.partition, delivery)
    const announced = this.#announce(deliveries)
    for (const delivery of deliveries) {
      delivery.done = announced.then(async (starts) => {
        const from = starts.get(delivery.partition)
        if (from !== undefined) await delivery.run(from)
      })
    }
  }

  /** Where to start each partition; those that were taken away meanwhile are left out. */
  async #announce(deliveries: readonly Delivery[]): Promise<Map<Partition, number>> {
    const { listener, clock } = this.#context
    for (let failures = 1; ; failures++) {
      const live = deliveries.filter((delivery) => !delivery.stopped.aborted)
      if (live.length === 0) return new Map()
      try {
        const answers = await listener.onAssigned(live.map(({ partition }) => nameOf(partition)))
        const starts = new Map(answers.map((answer) => [this.#context.find(answer), answer.offset]))
        for (const { partition } of live) {
          if (starts.has(partition)) continue
          const position = await this.#context.committed(partition)
          starts.set(partition, position?.offset ?? partition.start)
        }
        return starts
      } catch (error) {
        listener.onError(ensureError(error))
        await sleep(clock, backoffMs(failures), AbortSignal.any(live.map(({ stopped }) => stopped)))
      }
    }
  }
}

function nameOf({ topic, partition }: TopicPartition): TopicPartition {
  return { topic, partition }
}
