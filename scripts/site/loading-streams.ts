import { StoreError } from '../../state-stores/errors.js'
import type { PartitionLoad } from '../../topology/preload/partition-load.js'
import type { Query } from '../../topology/processor.js'
import type { Demand, QueryFailure, QueryResult } from '../../topology/streams.js'
import { queryReader } from '../../topology/task/query-reader.js'

/** A partition that is being loaded, and how old what it holds is. */
export interface LoadedCopy {
  readonly load: PartitionLoad
  /** Topic of the own journal. */
  readonly topic: string
  readonly stalenessMs: number
}

const RETRY_AFTER_MS = 1000

/**
 * Answers from what is loaded so far, as a standby does, with its age: while a site loads that has taken over from a dead one,
 * nobody else can. (two sites, decision 18)
 */
export async function queryLoaded<Arguments, Result>(
  { load, topic, stalenessMs }: LoadedCopy,
  query: Query<Arguments, Result>,
  args: Arguments,
  demand: Demand = {},
): Promise<QueryResult<Result>> {
  const { partition } = load
  if (load.isDone) return failure('restoring', `partition ${partition} is being opened`)
  const isDemanded = demand.minPositions?.some((place) => place.topic === topic && place.partition === partition)
  if (isDemanded === true) return failure('notUpToPosition', `partition ${partition} is being loaded`)
  if (demand.maxStalenessMs !== undefined && stalenessMs > demand.maxStalenessMs) {
    return failure('tooStale', `partition ${partition} is ${Math.round(stalenessMs)} ms behind`)
  }
  try {
    const result = await query.run(queryReader(load), args)
    return { ok: true, result, position: { topic, partition, offset: load.ownOffset }, role: 'standby', stalenessMs }
  } catch (thrown) {
    if (!(thrown instanceof StoreError)) throw thrown
    return failure('restoring', `partition ${partition} is being opened`)
  }
}

function failure(reason: QueryFailure, message: string): QueryResult<never> {
  return { ok: false, reason, message, retryAfterMs: RETRY_AFTER_MS }
}
