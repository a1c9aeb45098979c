import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { PulsefoldError } from '../../common/errors.js'
import type { Processor } from '../../topology/processor.js'
import type { PeerJournals } from '../../topology/preload/peer-journals.js'

export interface CopyJournalsOptions {
  readonly mirror: PeerJournals
  readonly clock: Clock
  /** Of the register's owner, where that is this instance: it copies for all. */
  readonly term: () => number | undefined
  readonly onError: (error: Error) => void
}

const PAUSE_MS = 50
const OTHERS_TURN_MS = 200
const RETRY_MS = 1000

/** Copies the other site's journals until `signal` is aborted. */
export async function copyJournals(
  { mirror, clock, term, onError }: CopyJournalsOptions,
  signal: AbortSignal,
): Promise<void> {
  let copied: number | undefined
  while (!signal.aborted) {
    try {
      const now = term()
      // Another instance may have copied meanwhile.
      if (now !== undefined && now !== copied) await mirror.open()
      copied = now
      if (now !== undefined) await mirror.pull(signal)
      await sleep(clock, now === undefined ? OTHERS_TURN_MS : PAUSE_MS, signal)
    } catch (thrown) {
      // That the other site does not answer is seen by the watch.
      if (thrown instanceof PulsefoldError) onError(thrown)
      await sleep(clock, RETRY_MS, signal)
    }
  }
}

/** The other site has been at work: some of its journals is here. */
export async function hasHistory(
  mirror: PeerJournals,
  processors: readonly Processor[],
  partitions: number,
): Promise<boolean> {
  for (const { name } of processors) {
    for (let partition = 0; partition < partitions; partition++) {
      // In a shared cluster the other site may not have made its topics yet.
      const offsets = mirror.source(name, partition).offsets()
      const found = await offsets.catch(() => undefined)
      if (found !== undefined && found.end > 0) return true
    }
  }
  return false
}
