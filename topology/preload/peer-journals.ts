import type { Clock } from '../../common/clock.js'
import { partitionName } from '../log/balanced-placement.js'
import type { GroupPosition, Log, TopicPartition } from '../log/log.js'
import type { TakenIn } from '../application-options.js'
import { names } from '../names.js'
import { journalIn } from './journal-source.js'
import type { JournalSource } from './journal-source.js'

/** The other site's journals, wherever this site can read them when that site is gone. */
export interface PeerJournals {
  /** ms since all that the other site had was last known to be readable here; undefined: it never was in this life. */
  readonly lagMs: number | undefined
  /** Monotonic time of which that is known. */
  readonly completeAt: number | undefined
  /** Monotonic time at which the other site was read last; undefined: it never was in this life. */
  readonly pulledAt: number | undefined
  open(): Promise<void>
  /** Brings what the other site has by now; resolves when that is on disk. */
  pull(signal: AbortSignal): Promise<void>
  /** All up to these ends of the other site's journals is here. */
  reaches(ends: readonly (TopicPartition & { readonly end: number })[]): boolean
  source(domain: string, partition: number): JournalSource
  /** Where the other site stands in the partitions of inputs that both read: all before is in its journals. */
  takenIn(inputs: readonly string[]): Promise<TakenIn>
}

export interface SharedJournalsOptions {
  readonly log: Log
  readonly clock: Clock
  /** The other site, and its application. */
  readonly site: string
  readonly applicationId: string
}

/** Both sites use one cluster: what the other has is there to be read, and nothing is copied. */
export function sharedJournals({ log, clock, site, applicationId }: SharedJournalsOptions): PeerJournals {
  return {
    lagMs: 0,
    get completeAt() {
      return clock.monotonic()
    },
    get pulledAt() {
      return clock.monotonic()
    },
    open: () => Promise.resolve(),
    pull: () => Promise.resolve(),
    reaches: () => true,
    source(domain, partition) {
      const topic = names.journal(applicationId, domain)
      return journalIn(log, { topic, partition }, names.siteJournal(site, topic))
    },
    async takenIn(inputs) {
      const positions = new Map<string, GroupPosition>()
      for (const topic of inputs) {
        const { partitions = 0 } = (await log.topic(topic)) ?? {}
        for (let partition = 0; partition < partitions; partition++) {
          const position = await log.committed(applicationId, { topic, partition })
          if (position !== undefined) positions.set(partitionName({ topic, partition }), position)
        }
      }
      return positions
    },
  }
}
