import type { StoreProvider } from '../../state-stores/key-value-store.js'
import type { ApplicationOptions } from '../application-options.js'
import { names } from '../names.js'
import { RestingStores } from '../resting-stores.js'
import type { Standby } from '../task/standby.js'
import type { Task } from '../task/task.js'
import type { HeldStore } from './member-data.js'

/** Kafka Streams' default of `state.cleanup.delay.ms`. */
const CLEANUP_DELAY_MS = 600_000

/** The stores of this instance: how they are opened, and those of our tasks that rest, as others are told of them. */
export interface LocalStores {
  readonly provider: StoreProvider
  resting(): readonly HeldStore[]
  /** Until `signal`, what rests too long is deleted. */
  watch(signal: AbortSignal): Promise<void>
}

/** `isPlaced`: the group says what is to be here. */
export function localStores(options: ApplicationOptions, isPlaced: () => boolean): LocalStores {
  const { stores, disk, clock, processors, partitions, observer, stateCleanupDelayMs = CLEANUP_DELAY_MS } = options
  if (disk === undefined) return { provider: stores, resting: () => [], watch: () => Promise.resolve() }
  const held = new Map(
    processors.flatMap(({ name: domain }) =>
      Array.from({ length: partitions }, (_, partition): [string, HeldStore] => [
        names.taskStore(domain, partition),
        // How far behind it is, is not known before it is opened.
        { domain, partition, lagRecords: null },
      ]),
    ),
  )
  const provider = new RestingStores({
    ...{ stores, disk, clock, isPlaced, cleanupDelayMs: stateCleanupDelayMs },
    isOurs: (name) => held.has(name),
    onRemoved: (name) => observer.onStoreRemoved(name),
    onError: (error) => observer.onError('deletion of a store', error),
  })
  return {
    provider,
    resting: () => provider.names.flatMap((name) => held.get(name) ?? []),
    watch: (signal) => provider.watch(signal),
  }
}

/** What an instance tells of its copies: those it works with, then those that rest on its disk. Of one named twice the first counts. */
export function heldStores(
  tasks: readonly Task[],
  standbys: readonly Standby[],
  resting: readonly HeldStore[],
): HeldStore[] {
  return [
    ...tasks.map(({ processor, partition }) => ({ domain: processor.name, partition, lagRecords: 0 })),
    ...standbys.map(({ domain, partition, lagRecords = null }) => ({ domain, partition, lagRecords })),
    ...resting,
  ]
}
