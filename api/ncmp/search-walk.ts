import { setImmediate } from 'node:timers/promises'
import type { SearchArguments, SearchPage } from '../../processors/trust-level/views.js'
import { sleep } from '../../common/clock.js'
import type { Provenance, QueryFailure } from '../../topology/streams.js'
import { TRUST_LEVEL } from '../trust-level-queries.js'
import type { Api } from '../api.js'
import { answered } from '../positions.js'
import type { Asked } from '../positions.js'

/** How far a search has come in one partition. */
export interface PartitionProgress {
  /** Handle id of the last hit given out; null: none yet. */
  after: string | null
  done: boolean
}

export interface SearchWalk {
  readonly conditions: SearchArguments['conditions']
  readonly fields: SearchArguments['fields']
  readonly demand: Asked
  /** Hits wanted in all; Infinity: every one. */
  readonly limit: number
  /** One a partition; moved on by the walk. */
  readonly progress: PartitionProgress[]
  /** Whence each part came so far; moved on by the walk. */
  readonly provenances: Provenance[]
}

export interface SearchPart extends SearchPage, Provenance {}

/** A list that has begun waits for a partition that moves: it can be broken off only. */
const MOVING_MS = 2000
const PAUSE_MS = 100
const isMoving: ReadonlySet<string> = new Set<QueryFailure>(['restoring', 'notOwned', 'notUpToPosition'])

/** Hits asked of all partitions together in one round: bounds memory and the time that the event loop is held. */
const HITS_A_ROUND = { id: 120_000, alternateId: 120_000, view: 2_400 } as const

/**
 * Hits in rounds over all partitions side by side, in key order in each; what matches all the time comes exactly once. The
 * first round comes from every partition not done yet, so that it tells of each where it stands; later ones come from no older
 * state, also where another copy answers, and wait a while for a partition that moves. At most `api.searches` rounds are at
 * work at once, and none for a caller who has gone. Errors: those of `answered`, and the signal's reason.
 */
export async function* walkSearch(api: Api, { demand, ...walk }: SearchWalk): AsyncGenerator<readonly SearchPart[]> {
  const signal = demand.signal()
  let remaining = walk.limit
  let wanted: Asked = demand
  let active = walk.progress.flatMap((progress, partition) => (progress.done ? [] : [partition]))
  while (remaining > 0 && active.length > 0) {
    const hits = Math.min(remaining, HITS_A_ROUND[walk.fields])
    const quotas = active.map((partition, i) => ({ partition, quota: share(hits, active.length, i) }))
    const isFirst = wanted === demand
    const asked = isFirst ? quotas : quotas.filter(({ quota }) => quota > 0)
    const round = { ...walk, demand: wanted }
    const patienceMs = isFirst ? 0 : MOVING_MS
    const parts = await api.searches.run(signal, () =>
      Promise.all(asked.map(({ partition, quota }) => askPartition(api, round, { partition, quota, patienceMs }))),
    )
    walk.provenances.push(...parts.map(({ position, role, stalenessMs }) => ({ position, role, stalenessMs })))
    if (isFirst) {
      const minPositions = [...(demand.minPositions ?? []), ...parts.map(({ position }) => position)]
      wanted = { ...demand, minPositions }
    }
    remaining -= parts.reduce((sum, part) => sum + part.texts.length + part.views.length, 0)
    yield parts
    await setImmediate()
    signal.throwIfAborted()
    active = active.filter((partition) => walk.progress[partition]?.done === false)
  }
}

interface PartitionShare {
  readonly partition: number
  readonly quota: number
  /** How long a partition without answer is asked again. */
  readonly patienceMs: number
}

/** A partition without a share is asked for one hit, to learn its position, and the hit stays for the next page. */
async function askPartition(
  api: Api,
  walk: Omit<SearchWalk, 'provenances'>,
  { partition, quota, patienceMs }: PartitionShare,
): Promise<SearchPart> {
  const progress = walk.progress[partition] ?? { after: null, done: false }
  const args: SearchArguments = {
    conditions: walk.conditions,
    fields: walk.fields,
    limit: Math.max(1, quota),
    ...(progress.after !== null && { after: progress.after }),
  }
  const until = api.clock.monotonic() + patienceMs
  const ask = () => api.streams.queryPartition(TRUST_LEVEL, api.queries.search, partition, args, walk.demand)
  let answer = await ask()
  while (!answer.ok && isMoving.has(answer.reason) && api.clock.monotonic() < until) {
    await sleep(api.clock, PAUSE_MS, walk.demand.signal())
    walk.demand.signal().throwIfAborted()
    answer = await ask()
  }
  const { result, ...provenance } = answered(answer)
  if (quota === 0) return { texts: [], views: [], last: null, ...provenance }
  progress.done = result.last === null
  progress.after = result.last ?? progress.after
  return { ...result, ...provenance }
}

/** The `index`-th of `parts` whole numbers that add up to `whole`. */
function share(whole: number, parts: number, index: number): number {
  return Math.floor(whole / parts) + (index < whole % parts ? 1 : 0)
}
