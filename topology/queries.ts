import { sleep } from '../common/clock.js'
import type { Clock } from '../common/clock.js'
import { ensureError } from '../common/errors.js'
import { StoreError } from '../state-stores/errors.js'
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
  const { log, clock, journalTopic: topic, partition } = environment
  if (task === 'stopping') return failure('stopping', 'the service is stopping')
  if (task === undefined) return failure('notOwned', `partition ${partition} is not assigned here yet`)
  if (task.state === 'FAILED') return failure('storeFailed', `partition ${partition} has failed; the log says why`)
  if (task.state !== 'LIVE') return failure('restoring', `partition ${partition} is being restored`)
  const wanted = demand.minPositions?.filter((position) => position.topic === topic && position.partition === partition)
  for (const { offset } of wanted ?? []) {
    if (task.offset > offset) continue
    const waiting = new AbortController()
    await Promise.race([task.whenFolded(offset), sleep(clock, POSITION_WAIT_MS, waiting.signal)])
    waiting.abort()
    if (task.offset <= offset)
      return failure(
        'notUpToPosition',
        `partition ${partition} stands at offset ${task.offset - 1}, not yet at ${offset}`,
      )
  }
  const offset = task.offset - 1
  if (task.offset >= (await log.offsets({ topic, partition })).end) task.reachedEnd()
  const { stalenessMs } = task
  if (demand.maxStalenessMs !== undefined && stalenessMs > demand.maxStalenessMs) {
    return failure('tooStale', `partition ${partition} is ${Math.round(stalenessMs)} ms behind`)
  }
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

function failure(reason: QueryFailure, message: string): QueryResult<never> {
  return { ok: false, reason, message, retryAfterMs: RETRY_AFTER_MS }
}
