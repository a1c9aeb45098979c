import type { Overlap } from '../../api/site/site-control.js'
import type { Clock } from '../../common/clock.js'
import type { SiteName, SiteRecord } from '../../processors/site/index.js'
import type { StoreProvider } from '../../state-stores/key-value-store.js'
import type { Log } from '../../topology/log/log.js'
import type { Processor } from '../../topology/processor.js'
import type { ComponentHealth } from './component-health.js'
import type { Domains } from './domain-host.js'
import type { Peer } from './peer.js'

export interface SiteSettings {
  readonly manualWindowMs: number
  readonly automaticWindowMs: number
  readonly checkIntervalMs: number
  readonly failureThreshold: number
  readonly automaticSwitch: boolean
  readonly failbackHoldOffMs: number
  readonly preloadTimeoutMs: number
  readonly rowCacheBytes: number
  readonly journalRetentionMs: number
}

export interface SiteOptions {
  readonly site: SiteName
  readonly applicationId: string
  /** Of the other site. */
  readonly peerApplicationId: string
  /** Both use one cluster: the other's journals are read where they are, and not copied. */
  readonly sharesLog: boolean
  readonly partitions: number
  readonly processors: readonly Processor[]
  readonly log: Log
  readonly stores: StoreProvider
  readonly clock: Clock
  /** The register, on one partition; started and stopped here. Each change of it goes to the topic. */
  readonly register: Domains & { readonly topic: string }
  readonly newDomains: () => Domains
  readonly peer: Peer
  readonly token: string
  readonly settings: SiteSettings
  readonly health: ComponentHealth
  /** Ids of commands, never the same twice. */
  readonly newId: () => string
  /** 0 to 1. */
  readonly random: () => number
  readonly onRecord: (record: SiteRecord, before: SiteRecord) => void
  /** Both sites were active at once, and this one has given way. */
  readonly onOverlap: (overlap: Overlap) => void
  readonly onError: (where: string, error: Error) => void
  /** It cannot be said any more what runs here: the process is to end. */
  readonly onFatal: (error: Error) => void
}
