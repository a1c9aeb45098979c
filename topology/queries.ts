import { sleep } from '../common/clock.js'
import type { Clock } from '../common/clock.js'
import { ensureError } from '../common/errors.js'
import { isDamage, StoreError } from '../state-stores/errors.js'
import { EngineError } from './errors.js'
import { LogError } from './log/errors.js'
import type { Log } from './log/log.js'
import type { Query } from './processor.js'
import type { Demand, Provenance, QueryFailure, QueryResult } from './streams.js'
import { queryReader } from './task/query-reader.js'
import type { QuerySource } from './task/query-reader.js'
import type { Turns } from './turns.js'

/** A copy of a partition's state that can be asked: an owner's task, or a standby. */
export interface Copy extends QuerySource {
  readonly state: 'FAILED' | 'LIVE' | 'RUNNING' | 'RESTORING' | 'CREATED' | 'CLOSED'
  /** Next journal offset to be folded. */
  readonly offset: number
  /** ms since it was last known to stand at the journal's end. */
  readonly stalenessMs: number
  /** It holds all that the journal held at this monotonic time. */
  reachedEnd(at: number): void
  /** Resolves when the record at `offset` is folded, no more is folded, or `signal` ends the wait. */
  whenFolded(offset: number, signal: AbortSignal): Promise<void>
  fail(error: Error): void
}

export interface QueryEnvironment {
  readonly log: Log
  readonly clock: Clock
  /** Folds give way to it. */
  readonly turns: Turns
  readonly journalTopic: string
  readonly partition: number
  /** As what to answer. */
  readonly role: Provenance['role']
  /** The group has heard of this instance of late: what it owns cannot be another's. */
  readonly isCurrent: () => boolean
}

/** How long a query waits for the position that its caller demands, ms. */
const POSITION_WAIT_MS = 1000
/** A store known to have stood at the journal's end so shortly ago is not measured again, unless that is demanded, ms. */
const MEASURED_MS = 100
/** How long a query waits for the log to say where the journal ends, ms. */
const MEASURE_WAIT_MS = 250
/** An owner that has not reached the journal's end for so long may be none any more, and answers as a standby does, ms. */
const STALE_OWNER_MS = 5000
const RETRY_AFTER_MS = 1000

/**
 * Answers a query from a copy, or says why it cannot. Only a live task may answer as the active one, and so say that something
 * does not exist; after a pause not before the group was heard. As a standby any copy answers that has been up to date once.
 * The demanded position is waited for; the position and staleness told are those before the query ran, so never too fresh.
 */
export async function answerQuery<Arguments, Result>(
  environment: QueryEnvironment,
  copy: Copy | 'stopping' | undefined,
  query: Query<Arguments, Result>,
  args: Arguments,
  demand: Demand,
): Promise<QueryResult<Result>> {
  const { journalTopic: topic, partition, turns } = environment
  if (copy === 'stopping') return failure('stopping', 'the service is stopping')
  if (copy === undefined) return failure('notOwned', `partition ${partition} is not assigned here yet`)
  const unavailable = unavailability(environment, copy)
  if (unavailable !== undefined) return unavailable
  const minOffset = minOffsetOf(environment, demand)
  if (copy.offset <= minOffset && !(await reaches(environment, copy, minOffset))) {
    const message = `partition ${partition} stands at offset ${copy.offset - 1}, not yet at ${minOffset}`
    return failure('notUpToPosition', message)
  }
  const { maxStalenessMs = Infinity } = demand
  if (copy.stalenessMs > Math.min(maxStalenessMs, MEASURED_MS)) await measured(environment, copy)
  const { stalenessMs } = copy
  const offset = copy.offset - 1
  if (stalenessMs === Number.MAX_SAFE_INTEGER) return failure('restoring', `partition ${partition} is being restored`)
  const role = stalenessMs > STALE_OWNER_MS ? 'standby' : environment.role
  if (Math.floor(stalenessMs) > maxStalenessMs || (demand.role === 'active' && role === 'standby')) {
    return failure('tooStale', `partition ${partition} is ${Math.round(stalenessMs)} ms behind`)
  }
  turns.queryBegins()
  try {
    const result = await query.run(queryReader(copy), args)
    // It may have ended while the query waited or ran.
    const ended = unavailability(environment, copy)
    if (ended !== undefined) return ended
    return { ok: true, result, position: { topic, partition, offset }, role, stalenessMs }
  } catch (thrown) {
    const error = ensureError(thrown)
    // A standby opens its store anew after a failure.
    if (isClosed(error)) return failure('restoring', `partition ${partition} is being restored`)
    if (!(error instanceof StoreError)) throw error
    if (isDamage(error)) copy.fail(error)
    return failure(
      error.code === 'STORE_CLOSED' ? 'stopping' : 'storeFailed',
      `partition ${partition} cannot be read now`,
    )
  } finally {
    turns.queryEnds()
  }
}

/** The highest offset demanded of the partition; -1: none. */
function minOffsetOf({ journalTopic, partition }: QueryEnvironment, { minPositions = [] }: Demand): number {
  let offset = -1
  for (const position of minPositions) {
    if (position.topic === journalTopic && position.partition === partition) offset = Math.max(offset, position.offset)
  }
  return offset
}

/** Why a copy cannot answer; undefined: it can. */
function unavailability({ role, isCurrent }: QueryEnvironment, copy: Copy): QueryResult<never> | undefined {
  const { state, partition } = copy
  if (state === 'FAILED') return failure('storeFailed', `partition ${partition} has failed; the log says why`)
  const isAnswering = state === 'LIVE' || (role === 'standby' && state === 'RUNNING')
  if (!isAnswering) return failure('restoring', `partition ${partition} is being restored`)
  if (role === 'standby' || isCurrent()) return undefined
  return failure('notOwned', `partition ${partition} may have another owner: the group was not heard for a session`)
}

/** Waits until the record at `offset` is folded; false when it takes too long. */
async function reaches({ clock }: QueryEnvironment, copy: Copy, offset: number): Promise<boolean> {
  const waiting = new AbortController()
  await Promise.race([copy.whenFolded(offset, waiting.signal), sleep(clock, POSITION_WAIT_MS, waiting.signal)])
  waiting.abort()
  return copy.offset > offset
}

const measuring = new WeakMap<Copy, Promise<void>>()

/** One measurement for all that ask at the same time; a log that is away is not waited for. */
async function measured(environment: QueryEnvironment, copy: Copy): Promise<void> {
  const known = measuring.get(copy) ?? measure(environment, copy).finally(() => measuring.delete(copy))
  measuring.set(copy, known)
  await new Promise<void>((resolve) => {
    const cancel = environment.clock.setTimer(resolve, MEASURE_WAIT_MS)
    void known.finally(() => {
      cancel()
      resolve()
    })
  })
}

/** Notes that the copy stands at the journal's end. A log that cannot say so leaves the answer as stale as it was. */
async function measure({ log, clock, journalTopic: topic, partition }: QueryEnvironment, copy: Copy): Promise<void> {
  // The process may be paused before it hears the answer.
  const askedAt = clock.monotonic()
  try {
    if (copy.offset >= (await log.offsets({ topic, partition })).end) copy.reachedEnd(askedAt)
  } catch (thrown) {
    if (!(thrown instanceof LogError)) throw thrown
  }
}

function failure(reason: QueryFailure, message: string): QueryResult<never> {
  return { ok: false, reason, message, retryAfterMs: RETRY_AFTER_MS }
}

const isClosed = (error: Error): boolean => error instanceof EngineError && error.code === 'TASK_NOT_RUNNING'
