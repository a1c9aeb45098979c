import { partitionName } from '../../balanced-placement.js'
import type { Placement, Share, TopicPartition } from '../../log.js'
import type { Subscription } from './subscription.js'

/** Members by their id; the partitions of each topic by its name. */
export type Members = ReadonlyMap<string, Subscription>

/**
 * The shares of a placement, for now: what moves is given to nobody as long as its former owner claims it: that one lets go
 * and joins again, and then it is free; until then the next owner stands by. So a partition never has two owners, and nothing else rests meanwhile. (as Kafka
 * Streams' incremental cooperative rebalancing, KIP-429)
 */
export function assign(
  members: Members,
  partitionsOf: ReadonlyMap<string, number>,
  placement: Placement,
): Map<string, Share> {
  const owners = ownersOf(members)
  const candidates = [...members].map(([id, { topics, data, owned }]) => ({
    ...{ id, topics, data },
    owned: owned.filter((partition) => owners.get(partitionName(partition)) === id),
  }))
  candidates.sort((a, b) => (a.id < b.id ? -1 : 1))
  const shares = placement(candidates, partitionsOf)
  return new Map(
    candidates.map(({ id }) => {
      const { active, standby } = shares.get(id) ?? { active: [], standby: [] }
      const isFree = (partition: TopicPartition): boolean => {
        const owner = owners.get(partitionName(partition))
        return owner === undefined || owner === id
      }
      const withheld = active.filter((partition) => !isFree(partition))
      return [id, { active: active.filter(isFree), standby: [...standby, ...withheld] }]
    }),
  )
}

/** Who holds what, by the latest claim. */
function ownersOf(members: Members): Map<string, string> {
  const owners = new Map<string, string>()
  for (const [id, { owned, generation }] of members) {
    for (const partition of owned) {
      const name = partitionName(partition)
      const other = members.get(owners.get(name) ?? '')
      if (other === undefined || generation > other.generation) owners.set(name, id)
    }
  }
  return owners
}
