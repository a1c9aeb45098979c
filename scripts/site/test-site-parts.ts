import type { Clock } from '../../common/clock.js'
import { siteRegister } from '../../processors/site/index.js'
import type { SiteName, SiteRecord } from '../../processors/site/index.js'
import type { StoreProvider } from '../../state-stores/key-value-store.js'
import { Application } from '../../topology/application.js'
import type { ApplicationOptions } from '../../topology/application-options.js'
import { countingProcessor } from '../../topology/counting-processor.js'
import type { Log } from '../../topology/log/log.js'
import { silentObserver } from '../../topology/observer.js'
import type { Processor } from '../../topology/processor.js'
import { ComponentHealth } from './component-health.js'
import type { Domains } from './domain-host.js'
import type { Peer } from './peer.js'
import { Site } from './site.js'
import type { SiteSettings } from './site-options.js'

export const PARTITIONS = 2

export interface TestSitePartsOptions {
  readonly name: SiteName
  readonly log: Log
  readonly stores: StoreProvider
  readonly clock: Clock
  readonly peer: Peer
  /** How an application is started and asked. */
  readonly asDomains: (application: Application) => Domains
  /** Default: the one that counts. */
  readonly processors?: readonly Processor[]
  readonly settings?: Partial<SiteSettings>
  readonly random?: () => number
  /** What its components say is wrong. */
  readonly troubles: () => readonly string[]
  readonly onRecord: (record: SiteRecord) => void
  /** Of this site; the message says what. */
  readonly onError: (message: string) => void
  /** Throws where the domains shall not stop. */
  readonly onStop?: () => void
}

/** Names process starts. */
let starts = 0

/** An instance of a site as in production, but for HTTP: on a clock and stores that a test gives it. */
export function testSiteParts(options: TestSitePartsOptions): {
  readonly site: Site
  readonly health: ComponentHealth
} {
  const { name, log, stores, clock, peer, asDomains, onError, onStop, processors = [countingProcessor] } = options
  const application = (more: Partial<ApplicationOptions>): Application =>
    new Application({
      applicationId: 'test',
      instance: `${name}-${++starts}`,
      processors,
      log,
      stores,
      clock,
      partitions: PARTITIONS,
      commitIntervalMs: 100,
      changelogIntervalMs: 1000,
      journalRetentionMs: 7 * 24 * 3_600_000,
      stateCacheBytes: 1024 * 1024,
      createInputTopics: true,
      observer: { ...silentObserver, onError: (where, error) => onError(`${where}: ${error.message}`) },
      onFatal: (error) => onError(`fatal: ${error.message}`),
      ...more,
    })
  const health = new ComponentHealth({
    clock,
    intervalMs: 5000,
    troubles: () => [...options.troubles(), ...site.troubles()],
    probeLog: () => log.topics(),
  })
  const register = application({ applicationId: 'test-site', processors: [siteRegister('test-site')], partitions: 1 })
  const site: Site = new Site({
    ...{ site: name, log, stores, clock, peer, health },
    applicationId: 'test',
    peerApplicationId: 'test',
    sharesLog: false,
    partitions: PARTITIONS,
    processors,
    register: { ...asDomains(register), topic: 'test-site' },
    newDomains() {
      const domains = application({ site: name })
      const stop = domains.stop.bind(domains)
      domains.stop = async () => {
        onStop?.()
        await stop()
      }
      return asDomains(domains)
    },
    token: '',
    newId: () => `command-${++starts}`,
    random: options.random ?? (() => 0.5),
    settings: {
      manualWindowMs: 3 * 3_600_000,
      automaticWindowMs: 3_600_000,
      checkIntervalMs: 10_000,
      failureThreshold: 3,
      automaticSwitch: true,
      failbackHoldOffMs: 600_000,
      preloadTimeoutMs: 600_000,
      rowCacheBytes: 1024 * 1024,
      journalRetentionMs: 7 * 24 * 3_600_000,
      ...options.settings,
    },
    onRecord: options.onRecord,
    onOverlap: () => undefined,
    onError: (where, error) => onError(`${where}: ${error.message}`),
    onFatal: (error) => onError(`fatal: ${error.message}`),
  })
  return { site, health }
}
