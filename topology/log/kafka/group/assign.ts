import type { TopicPartition } from '../../log.js'
import type { Subscription } from './subscription.js'

/** Members by their id; the partitions of each topic by its name. */
export type Members = ReadonlyMap<string, Subscription>

/**
 * Who gets which partitions: balanced, and each keeps what it holds as far as that allows. Equally numbered partitions of
 * topics with the same subscribers go together, so a task has its journal and its inputs in one place. What moves is
 * given to nobody as long as its former owner claims it: that one lets go and joins again, and then it is free. So a
 * partition never has two owners, and nothing else rests meanwhile. (as Kafka Streams' incremental cooperative
 * rebalancing, KIP-429)
 */
export function assign(members: Members, partitionsOf: ReadonlyMap<string, number>): Map<string, TopicPartition[]> {
  const owners = ownersOf(members)
  const assigned = new Map([...members.keys()].sort().map((id) => [id, [] as TopicPartition[]]))
  for (const { topics, subscribers } of coSubscribed(members, partitionsOf)) {
    for (const [unit, id] of share(topics, subscribers, owners, partitionsOf)) {
      for (const topic of topics) {
        if (unit >= (partitionsOf.get(topic) ?? 0)) continue
        const owner = owners.get(nameOf(topic, unit))
        if (owner === undefined || owner === id) assigned.get(id)?.push({ topic, partition: unit })
      }
    }
  }
  return assigned
}

function nameOf(topic: string, partition: number): string {
  return `${topic}/${partition}`
}

/** Who holds what, by the latest claim. */
function ownersOf(members: Members): Map<string, string> {
  const owners = new Map<string, string>()
  for (const [id, { owned, generation }] of members) {
    for (const { topic, partition } of owned) {
      const name = nameOf(topic, partition)
      const other = members.get(owners.get(name) ?? '')
      if (other === undefined || generation > other.generation) owners.set(name, id)
    }
  }
  return owners
}

interface CoSubscribed {
  readonly topics: readonly string[]
  readonly subscribers: readonly string[]
}

function coSubscribed(members: Members, partitionsOf: ReadonlyMap<string, number>): CoSubscribed[] {
  const groups = new Map<string, { topics: string[]; subscribers: readonly string[] }>()
  for (const topic of [...partitionsOf.keys()].sort()) {
    const subscribers = [...members].flatMap(([id, { topics }]) => (topics.includes(topic) ? [id] : [])).sort()
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
    const owner = topics.map((topic) => owners.get(nameOf(topic, unit))).find((id) => id !== undefined && held.has(id))
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
