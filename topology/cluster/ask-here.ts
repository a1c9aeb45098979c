import type { Query } from '../processor.js'
import type { Demand, QueryResult } from '../streams.js'
import type { LocalStreams } from './local-streams.js'

export interface PartitionQuestion {
  readonly domain: string
  readonly query: Query
  readonly partition: number
  readonly args: unknown
  readonly demand: Demand
}

/** Asks what is here: the live task, else the standby, where the demand allows one. */
export async function askHere(
  local: LocalStreams,
  { domain, query, partition, args, demand }: PartitionQuestion,
): Promise<QueryResult<unknown>> {
  const active = await local.queryLocal(domain, query, partition, args, demand, 'active')
  if (active.ok || demand.role === 'active' || active.reason === 'notUpToPosition') return active
  const standby = await local.queryLocal(domain, query, partition, args, demand, 'standby')
  return standby.ok || standby.reason !== 'notOwned' ? standby : active
}
