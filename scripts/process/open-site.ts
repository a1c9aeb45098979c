import { randomUUID } from 'node:crypto'
import type { Clock } from '../../common/clock.js'
import type { Logger } from '../../common/logger.js'
import type { Settings } from '../../common/settings.js'
import type { HealthCheck } from '../../api/site/health-check.js'
import { siteRegister } from '../../processors/site/index.js'
import type { StoreProvider } from '../../state-stores/key-value-store.js'
import { Application } from '../../topology/application.js'
import type { ApplicationOptions } from '../../topology/application-options.js'
import type { Leaving } from '../../topology/cluster/hand-over.js'
import { handOver } from '../../topology/cluster/hand-over.js'
import type { LocalStreams } from '../../topology/cluster/local-streams.js'
import type { Log } from '../../topology/log/log.js'
import { names } from '../../topology/names.js'
import type { EngineObserver } from '../../topology/observer.js'
import type { Processor } from '../../topology/processor.js'
import type { Streams } from '../../topology/streams.js'
import { ComponentHealth } from '../site/component-health.js'
import type { Domains } from '../site/domain-host.js'
import { httpPeer } from '../site/http-peer.js'
import { localStreams } from '../site/local-streams.js'
import { logProbe } from '../site/log-probe.js'
import { Site } from '../site/site.js'

export interface SiteParts {
  readonly settings: Settings
  readonly logger: Logger
  readonly clock: Clock
  readonly log: Log
  readonly stores: StoreProvider
  readonly processors: readonly Processor[]
  readonly newDomains: () => Domains
  /** An application as all instances of it, and how it is started. */
  readonly asDomains: (application: Application) => Domains
  readonly observer: EngineObserver
  readonly onFatal: ApplicationOptions['onFatal']
}

/** What runs of the domains: always, or while this site is the one to run them. */
export interface Running {
  /** The one that runs, or waits. */
  readonly application: Application
  readonly streams: Streams
  /** What other instances may ask of this one. */
  readonly local: LocalStreams
  readonly healthCheck: HealthCheck
  /** Undefined: there is but one site. */
  readonly site: Site | undefined
  /** Nothing is waited for any more once `stopping` is aborted. */
  start(stopping?: AbortSignal): Promise<void>
  /** Before the HTTP service stops: until other instances, where there are any, have what is here. */
  handOver(): Promise<void>
  stop(): Promise<void>
}

/** The only site: nothing is asked of another. */
export function openSingle({ settings, logger, clock, log, newDomains }: SiteParts): Running {
  const { application, streams, start } = newDomains()
  const stopping = new AbortController()
  let checking: Promise<void> | undefined
  const health = componentHealth({ settings, clock, log }, () => application.readiness().reasons)
  return {
    application,
    streams,
    local: application,
    site: undefined,
    healthCheck: () => ({ isUp: health.isHealthy, reasons: health.reasons }),
    async start() {
      await start()
      checking = health.run(stopping.signal)
    },
    handOver: () => handOverToOthers({ application, streams, clock }, logger),
    async stop() {
      stopping.abort()
      await application.stop()
      await checking
    },
  }
}

function componentHealth(
  { settings, clock, log }: Pick<SiteParts, 'settings' | 'clock' | 'log'>,
  troubles: () => readonly string[],
): ComponentHealth {
  const probeLog = logProbe(log, names.health(settings.applicationId))
  return new ComponentHealth({ clock, intervalMs: settings.siteHealthIntervalMs, troubles, probeLog })
}

async function handOverToOthers(leaving: Leaving, logger: Logger): Promise<void> {
  if (leaving.application.directory.instances.length < 2) return
  logger.info({ isTaken: await handOver(leaving) }, 'handed over')
}

/** One of two sites by its settings, not started. */
export function openSite(parts: SiteParts): Running {
  const { settings, logger, clock, log, stores, observer } = parts
  const { applicationId } = settings
  const siteId = names.site(applicationId)
  const register = new Application({
    applicationId: siteId,
    instance: randomUUID(),
    processors: [siteRegister(siteId)],
    log,
    stores,
    clock,
    partitions: 1,
    commitIntervalMs: settings.commitIntervalMs,
    changelogIntervalMs: settings.changelogIntervalMs,
    journalRetentionMs: settings.journalRetentionMs,
    stateCacheBytes: 1024 * 1024,
    standbyReplicas: 0,
    createInputTopics: false,
    observer,
    onFatal: parts.onFatal,
  })
  const peer = httpPeer({ url: settings.sitePeerUrl, token: settings.sitePeerToken })
  const health = componentHealth(parts, () => site.troubles())
  const site: Site = new Site({
    ...parts,
    site: settings.siteName,
    applicationId,
    peerApplicationId: settings.sitePeerApplicationId || applicationId,
    sharesLog: settings.siteSharesLog,
    partitions: settings.partitions,
    register: { ...parts.asDomains(register), topic: siteId },
    peer,
    token: settings.sitePeerToken,
    health,
    newId: () => randomUUID(),
    random: () => Math.random(),
    settings: {
      manualWindowMs: settings.siteManualWindowMs,
      automaticWindowMs: settings.siteAutomaticWindowMs,
      checkIntervalMs: settings.siteCheckIntervalMs,
      failureThreshold: settings.siteFailureThreshold,
      automaticSwitch: settings.siteAutomaticSwitch,
      failbackHoldOffMs: settings.siteFailbackHoldOffMs,
      preloadTimeoutMs: settings.sitePreloadTimeoutMs,
      rowCacheBytes: settings.stateCacheBytes,
      journalRetentionMs: settings.journalRetentionMs,
    },
    onRecord({ report, error, ...record }, before) {
      logger.info({ ...record, failure: error, from: before.phase }, 'site register')
      if (report !== '' && report !== before.report)
        logger.info({ report: JSON.parse(report) as object }, 'site switched')
    },
    onOverlap: (overlap) => logger.warn({ ...overlap }, 'both sites were active'),
    onError: (where, error) => observer.onError(where, error),
  })
  return {
    get application() {
      return site.application
    },
    streams: site.streams,
    local: localStreams(register, () => site.application),
    site,
    healthCheck() {
      const reasons = site.healthReasons()
      return { isUp: reasons.length === 0, reasons }
    },
    start: (stopping) => site.start(stopping),
    handOver: () => handOverToOthers({ application: site.application, streams: site.streams, clock }, logger),
    async stop() {
      await site.stop()
      await peer.close()
    },
  }
}
