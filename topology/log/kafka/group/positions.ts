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
  const { responses } = await retryingPositions(patience, () =>
    connection.atCoordinator('group', group, (coordinator) =>
      coordinator.offsetFetch({ groupId: group, topics: [{ topic, partitions: [{ partition }] }] }),
    ),
  )
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

export interface CommittedPosition extends TopicPartition, GroupPosition {}

interface WaitingCommit {
  readonly position: CommittedPosition
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Commits positions by one request after the other; what comes while one is under way goes together with the next, since a
 * coordinator writes each request to its disk. One that is refused holds no other back: each is then sent alone.
 */
export class PositionCommits {
  readonly #send: (positions: readonly CommittedPosition[]) => Promise<void>
  #waiting: WaitingCommit[] = []
  #isSending = false

  constructor(send: (positions: readonly CommittedPosition[]) => Promise<void>) {
    this.#send = send
  }

  commit(position: CommittedPosition): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ position, resolve, reject })
      if (this.#isSending) return
      this.#isSending = true
      void this.#run()
    })
  }

  async #run(): Promise<void> {
    // Lets all callers of this turn join the first request.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const together = this.#waiting
      this.#waiting = []
      try {
        await this.#send(together.map(({ position }) => position))
        for (const { resolve } of together) resolve()
      } catch (error) {
        const [first] = together
        if (together.length === 1) first?.reject(error)
        else for (const { position, resolve, reject } of together) await this.#send([position]).then(resolve, reject)
      }
    }
    this.#isSending = false
  }
}
