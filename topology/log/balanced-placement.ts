import type { Candidate, Placement, Share, TopicPartition } from './log.js'

export interface CoSubscribed {
  readonly topics: readonly string[]
  readonly subscribers: readonly string[]
}

/**
 * Balanced, and each member keeps what it holds as far as that allows; no standbys. Equally numbered partitions of topics
 * with the same subscribers go together.
 */
export const balancedPlacement: Placement = (candidates, partitionsOf) => {
  const owners = new Map<string, string>()
  for (const { id, owned } of candidates) for (const held of owned) owners.set(partitionName(held), id)
  const shares = new Map(candidates.map(({ id }) => [id, [] as TopicPartition[]]))
  for (const { topics, subscribers } of coSubscribed(candidates, partitionsOf)) {
    for (const [partition, id] of share(topics, subscribers, owners, partitionsOf)) {
      for (const topic of topics) {
        if (partition < (partitionsOf.get(topic) ?? 0)) shares.get(id)?.push({ topic, partition })
      }
    }
  }
  return new Map([...shares].map(([id, active]): [string, Share] => [id, { active, standby: [] }]))
}

/** `topic/partition`. */
export function partitionName({ topic, partition }: TopicPartition): string {
  return `${topic}/${partition}`
}

/** The partitions of one topic. */
export function partitionsOf(topic: string, among: readonly TopicPartition[]): number[] {
  return among.flatMap((at) => (at.topic === topic ? [at.partition] : []))
}

export function coSubscribed(
  candidates: readonly Candidate[],
  partitionsOf: ReadonlyMap<string, number>,
): CoSubscribed[] {
  const groups = new Map<string, { topics: string[]; subscribers: readonly string[] }>()
  for (const topic of [...partitionsOf.keys()].sort()) {
    const subscribers = candidates.flatMap(({ id, topics }) => (topics.includes(topic) ? [id] : [])).sort()
    if (subscribers.length === 0) continue
    const name = subscribers.join('\n')
    const group = groups.get(name) ?? { topics: [], subscribers }
    group.topics.push(topic)
    groups.set(name, group)
  }
  return [...groups.values()]
}

/** The new owner of each partition number. */
function share(
  topics: readonly string[],
  subscribers: readonly string[],
  owners: ReadonlyMap<string, string>,
  partitionsOf: ReadonlyMap<string, number>,
): Map<number, string> {
  const units = Math.max(...topics.map((topic) => partitionsOf.get(topic) ?? 0))
  const held = new Map(subscribers.map((id) => [id, [] as number[]]))
  for (let unit = 0; unit < units; unit++) {
    const owner = topics
      .map((topic) => owners.get(partitionName({ topic, partition: unit })))
      .find((id) => id !== undefined && held.has(id))
    if (owner !== undefined) held.get(owner)?.push(unit)
  }
  // Who holds most may keep the odd ones.
  const byHeld = [...subscribers].sort((a, b) => (held.get(b)?.length ?? 0) - (held.get(a)?.length ?? 0))
  const odd = units % subscribers.length
  const shares = new Map<number, string>()
  const room: string[] = []
  for (const [i, id] of byHeld.entries()) {
    const quota = Math.floor(units / subscribers.length) + (i < odd ? 1 : 0)
    const kept = (held.get(id) ?? []).slice(0, quota)
    for (const unit of kept) shares.set(unit, id)
    for (let free = kept.length; free < quota; free++) room.push(id)
  }
  for (let unit = 0; unit < units; unit++) {
    if (!shares.has(unit)) shares.set(unit, room.shift() as string)
  }
  return shares
}
