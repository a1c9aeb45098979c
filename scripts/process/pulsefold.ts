import { randomBytes, randomUUID } from 'node:crypto'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../common/clock.js'
import { sleep } from '../../common/clock.js'
import type { Logger } from '../../common/logger.js'
import { createMetrics } from '../../common/metrics.js'
import { pluginAddressPolicy } from '../../common/plugin-address.js'
import type { Settings } from '../../common/settings.js'
import { httpPeerTransport } from '../../api/instances/peer-transport.js'
import { createServer, DRAIN_MS } from '../../api/server.js'
import { processors } from '../../processors/index.js'
import { rocksDbProvider } from '../../state-stores/rocksdb/provider.js'
import { rocksDbDisk } from '../../state-stores/rocksdb/store-disk.js'
import { Application } from '../../topology/application.js'
import { copiesOf } from '../../topology/audit/copies.js'
import { ClusterStreams } from '../../topology/cluster/cluster-streams.js'
import { Peers } from '../../topology/cluster/peers.js'
import { archivedSource } from '../audit/archived-source.js'
import { peerJournalOf } from '../audit/audited-processors.js'
import { scratchStores } from '../audit/scratch-stores.js'
import type { Domains } from '../site/domain-host.js'
import type { Site } from '../site/site.js'
import { advertisedUrl } from './advertised-url.js'
import { decodeRecord } from './decode-record.js'
import { engineObserver } from './engine-observer.js'
import type { Service } from './lifecycle.js'
import { observeRequests } from './observe-requests.js'
import { observeSite } from './observe-site.js'
import { observeTasks } from './observe-tasks.js'
import { openLog } from './open-log.js'
import { openSingle, openSite } from './open-site.js'
import type { Running } from './open-site.js'
import { processorParts } from './processor-parts.js'
import { watchPauses } from './watch-pauses.js'

/** The running service, with its parts for benchmarks and tests in the same process. */
export interface Pulsefold extends Service {
  /** Of two sites' domains: the one that runs, or waits. */
  readonly application: Application
  /** Of two sites this one. */
  readonly site?: Site | undefined
}

const READY_POLL_MS = 10
/** Requests that are under way have had the time of the hand-over, and get at least so much more. */
const LEAST_DRAIN_MS = 1000

/**
 * Opens the log, the HTTP service and the topology, in this order; resolves when it is ready, or when `stopping` is aborted
 * before. Nothing is left open when it rejects. `fail` is told of what makes going on useless.
 */
export async function startPulsefold(
  settings: Settings,
  logger: Logger,
  clock: Clock,
  fail: (error: Error) => void,
  stopping?: AbortSignal,
): Promise<Pulsefold> {
  const closing: (() => Promise<void> | void)[] = []
  const stop = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close()
  }
  try {
    const metrics = createMetrics()
    closing.push(() => metrics.close())
    closing.push(watchPauses(clock, metrics, logger))
    let refuse: (error: Error) => void = fail
    const failed = new Promise<never>((_resolve, reject) => (refuse = reject))
    failed.catch(() => undefined)
    const onFatal = (error: Error): void => {
      refuse(error)
      fail(error)
    }
    const opened = await openLog(settings, logger, clock, onFatal)
    closing.push(() => opened.close())
    const { log } = opened
    const ownPorts: number[] = []
    const policy = { ...pluginAddressPolicy(settings, interfaceAddresses()), ownPorts }
    const observer = engineObserver(metrics, logger, clock)
    const domainProcessors = processors(processorParts(settings, clock, policy, logger))
    const directory = join(settings.dataDir, 'stores')
    const stores = rocksDbProvider({ directory })
    const hasPeerSite = settings.sitePeerUrl !== ''
    const newApplication = (): Application =>
      new Application({
        applicationId: settings.applicationId,
        ...(hasPeerSite && { site: settings.siteName }),
        instance: randomUUID(),
        processors: domainProcessors,
        log,
        stores,
        disk: rocksDbDisk(directory),
        stateCleanupDelayMs: settings.stateCleanupDelayMs,
        clock,
        partitions: settings.partitions,
        commitIntervalMs: settings.commitIntervalMs,
        changelogIntervalMs: settings.changelogIntervalMs,
        journalRetentionMs: settings.journalRetentionMs,
        // What a transaction costs the brokers does not grow with what is in it; the embedded log lingers by itself.
        transactionLingerMs: settings.kafkaBrokers.length > 0 ? 5 : 0,
        standbyReplicas: settings.standbyReplicas,
        stateCacheBytes: settings.stateCacheBytes,
        createInputTopics: settings.createInputTopics || settings.kafkaBrokers.length === 0,
        observer,
        onFatal,
      })
    const transport = httpPeerTransport(clock)
    closing.push(() => transport.close())
    const peers = new Peers({
      ...{ transport, clock },
      onError: (error) => observer.onError('another instance', error),
      onCall: (kind, result, durationMs) => {
        metrics.counter('pulsefold_instance_calls_total', { kind, result }).increment()
        metrics.histogram('pulsefold_instance_call_duration_seconds', { kind }).observe(durationMs / 1000)
      },
    })
    const scratch = scratchStores()
    closing.push(() => scratch.remove())
    const token = randomBytes(32).toString('base64url')
    let advertised = {}
    const asDomains = (application: Application): Domains => {
      const { directory } = application
      const streams = new ClusterStreams({ local: application, directory, peers, clock })
      return { application, streams, start: (takenIn) => application.start(advertised, takenIn) }
    }
    const newDomains = (): Domains => asDomains(newApplication())
    const parts = {
      ...{ settings, logger, clock, log, stores, observer, onFatal },
      ...{ processors: domainProcessors, newDomains, asDomains },
    }
    const running = hasPeerSite ? openSite(parts) : openSingle(parts)
    closing.push(() => running.stop())
    observeTasks(metrics, () => running.application)
    if (running.site !== undefined) observeSite(metrics, running.site)
    const server = await createServer({
      host: settings.httpHost,
      port: settings.httpPort,
      logger,
      streams: running.streams,
      instances: { local: running.local, token },
      ...(running.site !== undefined && { site: running.site }),
      healthCheck: running.healthCheck,
      clock,
      newId: () => randomUUID(),
      pluginAddressPolicy: policy,
      ncmpBasePath: settings.restApiNcmpBasePath,
      ncmpInventoryBasePath: settings.restApiNcmpInventoryBasePath,
      applicationId: settings.applicationId,
      ricId: settings.ricId,
      auditToken: settings.auditToken,
      auditSource: () => archivedSource({ history: settings.auditArchive || undefined }, running.streams.log),
      openAuditStore: () => scratch.openStore(),
      peerJournal: peerJournalOf(settings),
      auditCopies: () => copiesOf(running.application),
      decodeRecord: (topic, record) => decodeRecord(running.application.codecOf(topic), record),
      metrics: { contentType: metrics.contentType, metrics: () => metrics.text() },
    })
    let drainMs = DRAIN_MS
    closing.push(() => server.stop(drainMs))
    observeRequests(metrics, server.app)
    const url = await server.start()
    logger.info({ url }, 'listening')
    ownPorts.push(Number(new URL(url).port))
    advertised = { advertisedUrl: advertisedUrl(settings, url, hostname()), token }
    closing.push(async () => {
      const startedAt = clock.monotonic()
      await running.handOver()
      drainMs = Math.max(LEAST_DRAIN_MS, DRAIN_MS - (clock.monotonic() - startedAt))
    })
    await Promise.race([failed, running.start(stopping)])
    await Promise.race([failed, untilReady(running, clock, stopping)])
    return {
      url,
      get application() {
        return running.application
      },
      site: running.site,
      stop,
    }
  } catch (thrown) {
    await stop()
    throw thrown
  }
}

async function untilReady({ streams }: Running, clock: Clock, stopping?: AbortSignal): Promise<void> {
  while (!streams.readiness().ready && stopping?.aborted !== true) await sleep(clock, READY_POLL_MS, stopping)
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address))
}
