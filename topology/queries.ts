import { sleep } from '../common/clock.js'
import type { Clock } from '../common/clock.js'
import { ensureError } from '../common/errors.js'
import { StoreError } from '../state-stores/errors.js'
import { LogError } from './log/errors.js'
import type { Log } from './log/log.js'
import type { Query } from './processor.js'
import type { Demand, QueryFailure, QueryResult } from './streams.js'
import { queryReader } from './task/query-reader.js'
import type { Task } from './task/task.js'

export interface QueryEnvironment {
  readonly log: Log
  readonly clock: Clock
  readonly journalTopic: string
  readonly partition: number
}

/** How long a query waits for the position that its caller demands, ms. */
const POSITION_WAIT_MS = 1000
const RETRY_AFTER_MS = 1000

/**
 * Answers a query from a task, or says why it cannot: only a live task may say that something does not exist. The demanded
 * position is waited for; the position and staleness told are those before the query ran, so never too fresh.
 */
export async function answerQuery<Arguments, Result>(
  environment: QueryEnvironment,
  task: Task | 'stopping' | undefined,
  query: Query<Arguments, Result>,
  args: Arguments,
  demand: Demand,
): Promise<QueryResult<Result>> {
  const { journalTopic: topic, partition } = environment
  if (task === 'stopping') return failure('stopping', 'the service is stopping')
  if (task === undefined) return failure('notOwned', `partition ${partition} is not assigned here yet`)
  const unavailable = unavailability(task)
  if (unavailable !== undefined) return unavailable
  const wanted = demand.minPositions?.filter((position) => position.topic === topic && position.partition === partition)
  const minOffset = Math.max(-1, ...(wanted ?? []).map((position) => position.offset))
  if (!(await reaches(environment, task, minOffset))) {
    const message = `partition ${partition} stands at offset ${task.offset - 1}, not yet at ${minOffset}`
    return failure('notUpToPosition', message)
  }
  const offset = task.offset - 1
  await measure(environment, task)
  const { stalenessMs } = task
  if (demand.maxStalenessMs !== undefined && stalenessMs > demand.maxStalenessMs) {
    return failure('tooStale', `partition ${partition} is ${Math.round(stalenessMs)} ms behind`)
  }
  // It may have ended while the query waited.
  const ended = unavailability(task)
  if (ended !== undefined) return ended
  try {
    const result = await query.run(queryReader(task), args)
    return { ok: true, result, position: { topic, partition, offset }, role: 'active', stalenessMs }
  } catch (thrown) {
    const error = ensureError(thrown)
    if (!(error instanceof StoreError)) throw error
    if (error.code === 'STORE_CORRUPT') task.fail(error)
    return failure(
      error.code === 'STORE_CLOSED' ? 'stopping' : 'storeFailed',
      `partition ${partition} cannot be read now`,
    )
  }
}

/** Why a task cannot answer; undefined: it can. */
function unavailability({ state, partition }: Task): QueryResult<never> | undefined {
  if (state === 'FAILED') return failure('storeFailed', `partition ${partition} has failed; the log says why`)
  if (state !== 'LIVE') return failure('restoring', `partition ${partition} is being restored`)
  return undefined
}

/** Waits until the record at `offset` is folded; false when it takes too long. */
async function reaches({ clock }: QueryEnvironment, task: Task, offset: number): Promise<boolean> {
  if (task.offset > offset) return true
  const waiting = new AbortController()
  await Promise.race([task.whenFolded(offset, waiting.signal), sleep(clock, POSITION_WAIT_MS, waiting.signal)])
  waiting.abort()
  return task.offset > offset
}

/** Notes that the task stands at the journal's end. A log that cannot say so leaves the answer as stale as it was. */
async function measure({ log, journalTopic: topic, partition }: QueryEnvironment, task: Task): Promise<void> {
  try {
    if (task.offset >= (await log.offsets({ topic, partition })).end) task.reachedEnd()
  } catch (thrown) {
    if (!(thrown instanceof LogError)) throw thrown
  }
}

function failure(reason: QueryFailure, message: string): QueryResult<never> {
  return { ok: false, reason, message, retryAfterMs: RETRY_AFTER_MS }
}
