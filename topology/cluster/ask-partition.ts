import type { Clock } from '../../common/clock.js'
import type { Demand, QueryResult } from '../streams.js'
import { askHere } from './ask-here.js'
import type { PartitionQuestion } from './ask-here.js'
import type { Directory, Instance } from './directory.js'
import type { QueryAnswer, QueryCall } from './instance-call.js'
import type { LocalStreams } from './local-streams.js'
import type { LookUps } from './look-ups.js'
import type { PeerAnswer, Peers } from './peers.js'

export interface Instances {
  readonly local: LocalStreams
  readonly directory: Directory
  readonly peers: Peers
  readonly lookUps: LookUps
  readonly clock: Clock
}

type Failure = Extract<QueryResult<unknown>, { readonly ok: false }>

/** Bounds of all calls for one question together, of one call, and of one to a peer that gave no answer a moment ago. */
const QUESTION_MS = 4000
export const CALL_MS = 2500
const SUSPECT_CALL_MS = 500
const RETRY_AFTER_MS = 1000

/**
 * Asks the live task that is here, else the owner, else the standbys: each instance once at most, the directory anew before
 * each. So it takes `QUESTION_MS` at most, whatever becomes of the others. Rejects with the reason of the demand's signal.
 */
export async function askPartition(instances: Instances, question: PartitionQuestion): Promise<QueryResult<unknown>> {
  const { local, clock } = instances
  const { domain, query, partition, args } = question
  const { minPositions, maxStalenessMs } = question.demand
  const demand: Demand = {
    role: 'active',
    ...(minPositions && { minPositions }),
    ...(maxStalenessMs !== undefined && { maxStalenessMs }),
  }
  const until = clock.monotonic() + QUESTION_MS
  const here = await local.queryLocal(domain, query, partition, args, demand, 'active')
  return here.ok ? here : askHolders(instances, question, until, here)
}

async function askHolders(
  instances: Instances,
  question: PartitionQuestion,
  until: number,
  here: Failure,
): Promise<QueryResult<unknown>> {
  const { local, peers, clock } = instances
  const { demand } = question
  let failure = here
  for (const asked = new Set<string>(); failure.reason !== 'notUpToPosition';) {
    demand.signal?.().throwIfAborted()
    const next = nextHolder(instances, question, asked)
    const remainingMs = until - clock.monotonic()
    if (next === undefined || remainingMs <= 0) break
    asked.add(next.url)
    const answer = next.isSelf
      ? await askHere(local, question)
      : await askPeer(
          instances,
          question,
          next,
          Math.min(remainingMs, peers.isSuspect(next) ? SUSPECT_CALL_MS : CALL_MS),
        )
    if (answer.ok) return answer
    // Who has the partition knows better why there is no answer than who has it not.
    if (answer.reason !== 'notOwned') failure = answer
  }
  // Where the group has forgotten this instance, the directory knows nobody; a copy that is here is as good as before.
  if (failure.reason !== 'notOwned' || demand.role === 'active') return failure
  return askHere(local, question)
}

/** Whom to ask next: the owner before the standbys, those that gave no answer a moment ago last. */
function nextHolder(
  { directory, peers }: Instances,
  { domain, partition, demand }: PartitionQuestion,
  asked: ReadonlySet<string>,
): Instance | undefined {
  const { owner, standbys } = directory.holders(domain, partition)
  const holders = [...(owner === undefined ? [] : [owner]), ...(demand.role === 'active' ? [] : standbys)]
  const left = holders.filter(({ url, isSelf }) => !asked.has(url) && (isSelf || url !== ''))
  return left.find((holder) => holder.isSelf || !peers.isSuspect(holder)) ?? left[0]
}

async function askPeer(
  { local, peers, lookUps }: Instances,
  { domain, query, partition, args, demand }: PartitionQuestion,
  peer: Instance,
  timeoutMs: number,
): Promise<QueryAnswer> {
  const { minPositions = [], maxStalenessMs, role, signal } = demand
  const { topic } = local.journal(domain)
  const ofPartition = minPositions.filter((position) => position.topic === topic && position.partition === partition)
  const call: QueryCall = {
    ...{ domain, query: query.name, partition, args },
    minOffset: Math.max(-1, ...ofPartition.map(({ offset }) => offset)),
    ...(maxStalenessMs !== undefined && { maxStalenessMs }),
    activeOnly: role === 'active',
  }
  const isQuick = query.isLookUp === true && call.minOffset < 0 && timeoutMs === CALL_MS
  const answer: PeerAnswer<QueryAnswer> = isQuick
    ? await lookUps.ask(peer, call)
    : await peers.call<QueryAnswer>(peer, 'query', call, { timeoutMs, ...(signal && { signal: signal() }) })
  if (answer.ok) return answer.answer
  return { ok: false, reason: 'notOwned', message: answer.error.message, retryAfterMs: RETRY_AFTER_MS }
}
