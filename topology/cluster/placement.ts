import { coSubscribed } from '../log/balanced-placement.js'
import type { CoSubscribed } from '../log/balanced-placement.js'
import type { Candidate, Placement, Share, TopicPartition } from '../log/log.js'
import { decodeMemberData } from './member-data.js'
import type { HeldStore } from './member-data.js'

export interface PlacementOptions {
  /** Standbys of each partition, as far as there are instances. */
  readonly standbyReplicas: number
  /** Topics of which standbys are kept: the journals. */
  readonly isJournal: (topic: string) => boolean
}

/** A copy that lacks no more of its changelog takes over at once. (Kafka Streams' `acceptable.recovery.lag`) */
export const WARM_LAG_RECORDS = 10_000

/**
 * Where tasks and standbys run. Equally numbered partitions of all topics are one unit: a journal, its inputs and the other
 * domains' journals are in one place. Balanced within one unit, those with journals by themselves and those beyond, which an
 * input alone has, by themselves, each member keeping what it can; but a unit goes to
 * a member whose copy is not warm only if nobody has a warm one, and until then the member is its standby. So nothing rests
 * while a new instance restores, and balance follows. (as Kafka Streams' high availability assignor, KIP-441)
 */
export function clusterPlacement({ standbyReplicas, isJournal }: PlacementOptions): Placement {
  return (candidates, partitionsOf) => {
    const shares = new Map(
      candidates.map(({ id }) => [id, { active: [] as TopicPartition[], standby: [] as TopicPartition[] }]),
    )
    for (const group of coSubscribed(candidates, partitionsOf)) {
      const { topics } = group
      const give = (unit: number, given: readonly string[], to: TopicPartition[] | undefined): void => {
        for (const topic of given) if (unit < (partitionsOf.get(topic) ?? 0)) to?.push({ topic, partition: unit })
      }
      const units = new Units(group, candidates, partitionsOf)
      const tasks = Math.max(0, ...topics.filter(isJournal).map((topic) => partitionsOf.get(topic) ?? 0))
      const wanted = new Map([...wantedOwners(units, 0, tasks), ...wantedOwners(units, tasks, units.count)])
      for (let unit = 0; unit < units.count; unit++)
        give(unit, topics, shares.get(ownerOf(units, unit, wanted))?.active)
      for (const [unit, ids] of standbysOf(units, tasks, wanted, standbyReplicas)) {
        for (const id of ids) give(unit, topics.filter(isJournal), shares.get(id)?.standby)
      }
    }
    return shares satisfies ReadonlyMap<string, Share>
  }
}

/** What is known of the units of one group of topics. */
class Units {
  readonly count: number
  readonly members: readonly string[]
  readonly #owners = new Map<number, string>()
  /** Lag of each member's copy, by unit. */
  readonly #lags: readonly ReadonlyMap<string, number>[]

  constructor(
    { topics, subscribers }: CoSubscribed,
    candidates: readonly Candidate[],
    partitionsOf: ReadonlyMap<string, number>,
  ) {
    this.count = Math.max(...topics.map((topic) => partitionsOf.get(topic) ?? 0))
    this.members = subscribers
    const known = candidates.filter(({ id }) => subscribers.includes(id)).sort((a, b) => (a.id < b.id ? -1 : 1))
    for (const { id, owned } of known) {
      for (const { topic, partition } of owned) {
        if (topics.includes(topic) && !this.#owners.has(partition)) this.#owners.set(partition, id)
      }
    }
    const told = new Map(
      known.map(({ id, data }) => [id, data.length === 0 ? undefined : decodeMemberData(data).stores]),
    )
    this.#lags = Array.from({ length: this.count }, (_, unit) => lagsOf(unit, told))
  }

  /** Who holds it now. */
  owner(unit: number): string | undefined {
    return this.#owners.get(unit)
  }
  lag(unit: number, id: string): number {
    return this.#owners.get(unit) === id ? 0 : (this.#lags[unit]?.get(id) ?? Number.POSITIVE_INFINITY)
  }
  isWarm(unit: number, id: string): boolean {
    return this.lag(unit, id) <= WARM_LAG_RECORDS
  }
  /** Members by preference for a unit: the warmest first. */
  byLag(unit: number): string[] {
    return [...this.members].sort((a, b) => compare(this.lag(unit, a), this.lag(unit, b)) || compare(a, b))
  }
}

/**
 * A member needs a copy of each domain that anybody has one of. Where nobody has any, all are as good; so is a member that
 * tells nothing at all.
 */
function lagsOf(unit: number, told: ReadonlyMap<string, readonly HeldStore[] | undefined>): Map<string, number> {
  const held = [...told.values()].flatMap((stores) => stores ?? []).filter(({ partition }) => partition === unit)
  const domains = new Set(held.map(({ domain }) => domain))
  const lags = new Map<string, number>()
  for (const [id, stores] of told) {
    let lag = 0
    for (const domain of stores === undefined ? [] : domains) {
      const store = stores?.find((candidate) => candidate.domain === domain && candidate.partition === unit)
      lag += store?.lagRecords ?? (store === undefined ? Number.POSITIVE_INFINITY : Number.MAX_SAFE_INTEGER)
    }
    lags.set(id, lag)
  }
  return lags
}

/**
 * The owner of each unit from `start` to `end` (exclusive) once all are warm: balanced within one, least moves, each move to the
 * warmest that has room.
 */
function wantedOwners(units: Units, start: number, end: number): ReadonlyMap<number, string> {
  const count = end - start
  const held = new Map(units.members.map((id) => [id, [] as number[]]))
  for (let unit = start; unit < end; unit++) held.get(units.owner(unit) ?? '')?.push(unit)
  // Who holds most may keep the odd ones.
  const byHeld = [...units.members].sort((a, b) => (held.get(b)?.length ?? 0) - (held.get(a)?.length ?? 0))
  const room = new Map<string, number>()
  for (const [i, id] of byHeld.entries()) {
    const quota = Math.floor(count / byHeld.length) + (i < count % byHeld.length ? 1 : 0)
    room.set(id, quota - (held.get(id)?.length ?? 0))
  }
  const wanted = new Map<number, string>()
  const moving = new Set<number>(Array.from({ length: count }, (_, at) => start + at))
  const receivers = units.members.filter((id) => (room.get(id) ?? 0) > 0)
  for (const [id, own] of held) {
    const surplus = Math.max(0, -(room.get(id) ?? 0))
    const leastLag = (unit: number): number => Math.min(...receivers.map((receiver) => units.lag(unit, receiver)))
    const byReadiness = [...own].sort((a, b) => compare(leastLag(a), leastLag(b)) || b - a)
    for (const unit of byReadiness.slice(surplus)) {
      wanted.set(unit, id)
      moving.delete(unit)
    }
  }
  const moves = [...moving].flatMap((unit) => receivers.map((id) => ({ unit, id, lag: units.lag(unit, id) })))
  moves.sort((a, b) => compare(a.lag, b.lag) || a.unit - b.unit || compare(a.id, b.id))
  for (const { unit, id } of moves) {
    const left = room.get(id) ?? 0
    if (wanted.has(unit) || left === 0) continue
    wanted.set(unit, id)
    room.set(id, left - 1)
  }
  return wanted
}

/** The owner for now. */
function ownerOf(units: Units, unit: number, wanted: ReadonlyMap<number, string>): string {
  const owner = units.owner(unit)
  const next = wanted.get(unit) ?? ''
  if (units.isWarm(unit, next)) return next
  if (owner !== undefined) return owner
  const [warmest = next] = units.byLag(unit)
  return units.isWarm(unit, warmest) ? warmest : next
}

/** Standbys of each of so many units: who is to own it next, then the warmest, each member about as many as the others. */
function standbysOf(
  units: Units,
  tasks: number,
  wanted: ReadonlyMap<number, string>,
  replicas: number,
): Map<number, string[]> {
  const standbys = new Map<number, string[]>()
  const owners = Array.from({ length: tasks }, (_, unit) => ownerOf(units, unit, wanted))
  const counts = new Map(units.members.map((id) => [id, 0]))
  const countOf = (id: string): number => counts.get(id) ?? 0
  const needed = Math.min(replicas, units.members.length - 1)
  const limit = Math.ceil((tasks * needed) / units.members.length)
  const add = (unit: number, id: string): void => {
    standbys.set(unit, [...(standbys.get(unit) ?? []), id])
    counts.set(id, countOf(id) + 1)
  }
  const free = (unit: number): string[] =>
    units.members.filter((id) => id !== owners[unit] && standbys.get(unit)?.includes(id) !== true)
  for (const [unit, owner] of owners.entries()) {
    const next = wanted.get(unit) ?? ''
    if (next !== owner) add(unit, next)
  }
  for (let replica = 1; replica <= needed; replica++) {
    for (const unit of owners.keys()) {
      const isFull = (id: string): number => (countOf(id) < limit ? 0 : 1)
      const [best] = free(unit).sort(
        (a, b) => isFull(a) - isFull(b) || compare(units.lag(unit, a), units.lag(unit, b)) || countOf(a) - countOf(b),
      )
      if ((standbys.get(unit) ?? []).length < replica && best !== undefined) add(unit, best)
    }
  }
  // The last ones may have found none but full members, while others have room for what came before.
  for (const [unit, ids] of standbys) {
    const full = ids.find((id) => countOf(id) > limit && id !== wanted.get(unit))
    const roomy = free(unit).find((id) => countOf(id) < limit)
    if (full === undefined || roomy === undefined) continue
    standbys.set(unit, [...ids.filter((id) => id !== full), roomy])
    counts.set(full, countOf(full) - 1)
    counts.set(roomy, countOf(roomy) + 1)
  }
  return standbys
}

function compare(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
