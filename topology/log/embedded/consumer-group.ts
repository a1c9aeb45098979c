import { balancedPlacement } from '../balanced-placement.js'
import type { MemberView, Share, TopicPartition } from '../log.js'
import type { EmbeddedGroupMember } from './group-member.js'
import type { Partition } from './partition.js'

const nothing: Share = { active: [], standby: [] }

/**
 * Shares the partitions of a group among its members, by the placement they bring. Changes go one at a time: a partition is
 * given on only when its former member has let go of it.
 */
export class ConsumerGroup {
  readonly #members = new Map<string, EmbeddedGroupMember>()
  readonly #partitionsOf: (topic: string) => readonly Partition[]
  #rebalancing: Promise<void> = Promise.resolve()
  #joined = 0

  constructor(partitionsOf: (topic: string) => readonly Partition[]) {
    this.#partitionsOf = partitionsOf
  }

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  join(member: EmbeddedGroupMember): void {
    this.#members.set(`member-${++this.#joined}`, member)
    this.rejoin()
  }

  /** Later than the caller's `await join()`, so that its listener can use the member from the first call on. */
  rejoin(): void {
    setImmediate(() => void this.#rebalance())
  }

  /** Resolves when the member's listener is at rest and its partitions went to the others. */
  async leave(member: EmbeddedGroupMember): Promise<void> {
    for (const [id, other] of this.#members) if (other === member) this.#members.delete(id)
    await this.#rebalance(member)
  }

  /** All members leave at once: nothing is given on. */
  async close(): Promise<void> {
    const members = [...this.#members.values()]
    this.#members.clear()
    await this.#rebalance(...members)
  }

  #rebalance(...leaving: EmbeddedGroupMember[]): Promise<void> {
    this.#rebalancing = this.#rebalancing.then(async () => {
      const members = [...this.#members]
      const shares = this.#shares(members)
      const held = new Map(
        members.map(([id, member]) => [member, new Set((shares.get(id)?.active ?? []).map((at) => this.#find(at)))]),
      )
      const none: ReadonlySet<Partition> = new Set()
      await Promise.all([...held.keys(), ...leaving].map((member) => member.release(held.get(member) ?? none)))
      for (const [, self] of members) {
        self.see(
          members.map(([id, member]): MemberView => ({
            ...(shares.get(id) ?? nothing),
            ...{ id, data: member.data, isSelf: member === self },
          })),
        )
      }
      for (const [member, share] of held) member.take(share)
    })
    return this.#rebalancing
  }

  #shares(members: readonly (readonly [id: string, member: EmbeddedGroupMember])[]): ReadonlyMap<string, Share> {
    const topics = new Set(members.flatMap(([, member]) => member.topics))
    const placement = members[0]?.[1].placement ?? balancedPlacement
    const candidates = members.map(([id, member]) => ({
      ...{ id, topics: member.topics },
      ...{ data: member.describe(), owned: member.assignment },
    }))
    return placement(candidates, new Map([...topics].map((topic) => [topic, this.#partitionsOf(topic).length])))
  }

  #find({ topic, partition }: TopicPartition): Partition {
    const found = this.#partitionsOf(topic)[partition]
    if (found === undefined) throw new Error(`a placement gave partition ${partition} of ${topic}, which is not there`)
    return found
  }
}
