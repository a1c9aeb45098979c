import { partitionName } from '../log/balanced-placement.js'
import type { GroupMember, Placement } from '../log/log.js'

export interface ClaimsOptions {
  readonly member: () => GroupMember | undefined
  readonly placement: Placement
  /** What this instance would tell now. */
  readonly describe: () => Buffer
  /** The partitions of each topic of the group. */
  readonly partitionsOf: () => ReadonlyMap<string, number>
}

/**
 * Joins the group again when, with what this instance's standbys have caught up with by now, the placement would give it more
 * than it has. (as Kafka Streams' probing rebalances, but when there is something to be had)
 */
export class Claims {
  readonly #options: ClaimsOptions
  /** The partitions claimed last, and who was there. */
  #last = ''

  constructor(options: ClaimsOptions) {
    this.#options = options
  }

  consider(): void {
    const { member, placement, describe, partitionsOf } = this.#options
    const members = member()?.members() ?? []
    const own = members.find(({ isSelf }) => isSelf)
    if (own === undefined) return
    const topics = partitionsOf()
    const active = members.reduce((sum, share) => sum + share.active.length, 0)
    // Something is being handed over: there will be a rebalance.
    if (active < [...topics.values()].reduce((sum, partitions) => sum + partitions, 0)) return
    const candidates = members.map((each) => ({
      ...{ id: each.id, topics: [...topics.keys()], owned: each.active },
      data: each.isSelf ? describe() : each.data,
    }))
    const held = new Set(own.active.map(partitionName))
    const placed = placement(candidates, topics).get(own.id)?.active ?? []
    const claim = placed.map(partitionName).filter((name) => !held.has(name))
    const claimed = claim.length === 0 ? '' : [...claim, ...members.map(({ id }) => id)].join()
    // What the group has not granted is not claimed again.
    if (claimed !== '' && claimed !== this.#last) member()?.rejoin()
    this.#last = claimed
  }
}
