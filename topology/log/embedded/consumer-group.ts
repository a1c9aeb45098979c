import type { EmbeddedGroupMember } from './group-member.js'
import type { Partition } from './partition.js'

/**
 * Shares the partitions of a group among its members: partition n of a topic goes to the member n modulo their number,
 * in the order they joined, so equally numbered partitions of several topics stay together. Changes go one at a time: a
 * partition is given on only when its former member has let go of it.
 */
export class ConsumerGroup {
  readonly #members: EmbeddedGroupMember[] = []
  readonly #partitionsOf: (topic: string) => readonly Partition[]
  #rebalancing: Promise<void> = Promise.resolve()

  constructor(partitionsOf: (topic: string) => readonly Partition[]) {
    this.#partitionsOf = partitionsOf
  }

  get isEmpty(): boolean {
    return this.#members.length === 0
  }

  join(member: EmbeddedGroupMember): void {
    this.#members.push(member)
    // Later than the caller's `await join()`, so that its listener can use the member from the first call on.
    setImmediate(() => void this.#rebalance())
  }

  /** Resolves when the member's listener is at rest and its partitions went to the others. */
  async leave(member: EmbeddedGroupMember): Promise<void> {
    this.#members.splice(this.#members.indexOf(member), 1)
    await this.#rebalance(member)
  }

  /** All members leave at once: nothing is given on. */
  async close(): Promise<void> {
    const members = this.#members.splice(0)
    await this.#rebalance(...members)
  }

  #rebalance(...leaving: EmbeddedGroupMember[]): Promise<void> {
    this.#rebalancing = this.#rebalancing.then(async () => {
      const shares = this.#shares()
      const none: ReadonlySet<Partition> = new Set()
      const members = [...shares.keys(), ...leaving]
      await Promise.all(members.map((member) => member.release(shares.get(member) ?? none)))
      for (const [member, share] of shares) member.take(share)
    })
    return this.#rebalancing
  }

  #shares(): Map<EmbeddedGroupMember, Set<Partition>> {
    const shares = new Map(this.#members.map((member) => [member, new Set<Partition>()]))
    for (const topic of new Set(this.#members.flatMap((member) => member.topics))) {
      const subscribed = this.#members.filter((member) => member.topics.includes(topic))
      for (const partition of this.#partitionsOf(topic)) {
        const owner = subscribed[partition.partition % subscribed.length]
        if (owner !== undefined) shares.get(owner)?.add(partition)
      }
    }
    return shares
  }
}
