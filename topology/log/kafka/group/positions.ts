import type { Clock } from '../../../../common/clock.js'
import { sleep } from '../../../../common/clock.js'
import type { GroupPosition, TopicPartition } from '../../log.js'
import type { Connection } from '../connection.js'
import { typeOf } from '../protocol/broker-error.js'
import { isRetriable, pauseMs, retrying, unavailable } from '../retry.js'

export interface Patience {
  readonly clock: Clock
  readonly timeoutMs: number
}

const noPosition = '-1'

/** The position that a group keeps, whoever asks. */
export async function committedBy(
  connection: Connection,
  patience: Patience,
  group: string,
  { topic, partition }: TopicPartition,
): Promise<GroupPosition | undefined> {
  const { responses } = await retryingPositions(patience, async () => {
    const coordinator = await connection.coordinator('group', group)
    return coordinator.offsetFetch({ groupId: group, topics: [{ topic, partitions: [{ partition }] }] })
  })
  const found = responses[0]?.partitions[0]
  if (found === undefined || found.offset === noPosition) return undefined
  return { offset: Number(found.offset), metadata: found.metadata ?? '' }
}

/** A group that is about to hand out partitions takes no positions for a moment. */
export async function retryingPositions<T>({ clock, timeoutMs }: Patience, attempt: () => Promise<T>): Promise<T> {
  const deadline = clock.monotonic() + timeoutMs
  for (let failures = 1; ; failures++) {
    try {
      return await retrying({ clock, timeoutMs }, attempt)
    } catch (error) {
      if (typeOf(error) !== 'REBALANCE_IN_PROGRESS' || clock.monotonic() >= deadline) {
        throw isRetriable(error) ? unavailable(error) : error
      }
      await sleep(clock, pauseMs(failures))
    }
  }
}
