import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import type { Query } from '../processor.js'
import type { Streams } from '../streams.js'
import type { Directory } from './directory.js'

/** Asked of a live task, it says so: of every domain, besides its own queries. */
export const isLive: Query<unknown, true> = { name: 'is-live', isLookUp: true, run: () => Promise.resolve(true) }

export interface Leaving {
  readonly application: {
    readonly tasks: readonly { readonly processor: { readonly name: string }; readonly partition: number }[]
    readonly directory: Directory
    leave(): Promise<void>
  }
  readonly streams: Pick<Streams, 'queryPartition'>
  readonly clock: Clock
}

/** Longest time of it: of the 9.5 s that a stop may take, what is to be done afterwards needs the rest. */
export const HAND_OVER_MS = 6500
const POLL_MS = 50

/**
 * Leaves the group, and waits until those who come after have live tasks of all that was here: meanwhile this instance can
 * answer, and pass on. True: they have; false: it took too long, or there is nobody.
 */
export async function handOver({ application, streams, clock }: Leaving): Promise<boolean> {
  const { tasks, directory } = application
  const over = new AbortController()
  const { signal } = over
  const untilTaken = async (): Promise<boolean> => {
    await application.leave()
    const isTaken = ({ processor: { name }, partition }: (typeof tasks)[number]): Promise<boolean> =>
      streams.queryPartition(name, isLive, partition, {}, { role: 'active', signal: () => signal }).then(({ ok }) => ok)
    const hasHeir = tasks.every(({ processor, partition }) => directory.holders(processor.name, partition).owner)
    while (hasHeir && !signal.aborted) {
      if ((await Promise.all(tasks.map(isTaken))).every(Boolean)) return true
      await sleep(clock, POLL_MS, signal)
    }
    return false
  }
  const limit = sleep(clock, HAND_OVER_MS, signal).then(() => false)
  try {
    return await Promise.race([untilTaken().catch(() => false), limit])
  } finally {
    over.abort()
  }
}
