import type { Clock } from '../common/clock.js'
import type { StoreProvider } from '../state-stores/key-value-store.js'
import type { GroupPosition, Log } from './log/log.js'
import type { EngineObserver } from './observer.js'
import type { Processor } from './processor.js'
import type { StoreDisk } from './resting-stores.js'
import type { TaskEnvironment } from './task/environment.js'

export interface ApplicationOptions {
  readonly applicationId: string
  /** Of two sites, which one this is; default: there is but one. */
  readonly site?: string
  /** Names this process start; never given before. */
  readonly instance: string
  readonly processors: readonly Processor[]
  readonly log: Log
  readonly stores: StoreProvider
  /** Absent: stores are never deleted, and those that a former process left are not told to the group. */
  readonly disk?: StoreDisk
  /** A store of the disk that nothing has opened for so long is deleted; default 10 min. */
  readonly stateCleanupDelayMs?: number
  readonly clock: Clock
  readonly partitions: number
  readonly commitIntervalMs: number
  readonly changelogIntervalMs: number
  readonly journalRetentionMs: number
  /** Behind a transaction of few outputs declared `once` the next one waits so long for company; default 0. */
  readonly transactionLingerMs?: number
  /** Bytes of state kept in memory, all tasks together. */
  readonly stateCacheBytes: number
  readonly createInputTopics: boolean
  /** Standbys of each task at other instances, as far as there are any; default 1. */
  readonly standbyReplicas?: number
  readonly observer: EngineObserver
  /** A task cannot open its store for a reason that only an operator can mend: running on is useless. */
  readonly onFatal: (error: Error) => void
  readonly probe?: TaskEnvironment['probe']
}

/** What other instances are told of this one; empty: nothing, and they cannot ask it. */
export interface Advertised {
  readonly advertisedUrl?: string
  readonly token?: string
}

/** Where another application stands in the inputs, whose journals are loaded here; by `partitionName`. */
export type TakenIn = ReadonlyMap<string, GroupPosition>
