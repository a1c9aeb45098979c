import { balancedPlacement } from '../balanced-placement.js'
import type { MemberView, Share, TopicPartition } from '../log.js'
import type { EmbeddedGroupMember } from './group-member.js'
import type { Partition } from './partition.js'

const nothing: Share = { active: [], standby: [] }
const nothingHeld: ReadonlySet<Partition> = new Set()

/**
 * Shares the partitions of a group among its members, by the placement they bring. Changes go one at a time: a partition is
 * given on only when its former member has let go of it.
 */
export class ConsumerGroup {
  readonly #members = new Map<string, EmbeddedGroupMember>()
  /** Members no more, which may still hold partitions. */
  readonly #leaving = new Set<EmbeddedGroupMember>()
  readonly #partitionsOf: (topic: string) => readonly Partition[]
  #rebalancing: Promise<void> = Promise.resolve()
  #joined = 0

  constructor(partitionsOf: (topic: string) => readonly Partition[]) {
    this.#partitionsOf = partitionsOf
  }

  get isEmpty(): boolean {
    return this.#members.size === 0 && this.#leaving.size === 0
  }

  join(member: EmbeddedGroupMember): void {
    this.#members.set(`member-${++this.#joined}`, member)
    this.rejoin()
  }

  /** Later than the caller's `await join()`, so that its listener can use the member from the first call on. */
  rejoin(): void {
    setImmediate(() => void this.#rebalance())
  }

  /** Resolves when the member's listener is at rest, whatever other members are waited for; then its partitions go to them. */
  async leave(member: EmbeddedGroupMember): Promise<void> {
    for (const [id, other] of this.#members) if (other === member) this.#members.delete(id)
    void this.#rebalance()
    await this.#letGo(member)
  }

  /** All members leave at once: nothing is given on. */
  async close(): Promise<void> {
    const members = [...this.#members.values()]
    this.#members.clear()
    await Promise.all(members.map((member) => this.#letGo(member)))
    await this.#rebalance()
  }

  async #letGo(member: EmbeddedGroupMember): Promise<void> {
    this.#leaving.add(member)
    await member.release(nothingHeld)
    this.#leaving.delete(member)
  }

  #rebalance(): Promise<void> {
    this.#rebalancing = this.#rebalancing.then(async () => {
      const members = [...this.#members]
      const shares = this.#shares(members)
      const held = new Map(
        members.map(([id, member]) => [member, new Set((shares.get(id)?.active ?? []).map((at) => this.#find(at)))]),
      )
      const all = [...held.keys(), ...this.#leaving]
      await Promise.all(all.map((member) => member.release(held.get(member) ?? nothingHeld)))
      // One that has left meanwhile is told, and given, nothing.
      const staying = members.filter(([id]) => this.#members.has(id))
      for (const [, self] of staying) {
        self.see(
          members.map(([id, member]): MemberView => ({
            ...(shares.get(id) ?? nothing),
            ...{ id, data: member.data, isSelf: member === self },
          })),
        )
      }
      for (const [, member] of staying) member.take(held.get(member) ?? nothingHeld)
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
