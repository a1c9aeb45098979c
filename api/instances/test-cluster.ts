import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { pino } from 'pino'
import { systemClock } from '../../common/clock.js'
import { pluginAddressPolicy } from '../../common/plugin-address.js'
import { settingsWith } from '../../common/settings.js'
import { processors } from '../../processors/index.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { Application } from '../../topology/application.js'
import { copiesOf } from '../../topology/audit/copies.js'
import { ClusterStreams } from '../../topology/cluster/cluster-streams.js'
import type { PeerError } from '../../topology/cluster/errors.js'
import { Peers } from '../../topology/cluster/peers.js'
import { openEmbeddedLogAt } from '../../topology/log/embedded/embedded-log.js'
import type { EmbeddedLog } from '../../topology/log/embedded/embedded-log.js'
import { silentObserver } from '../../topology/observer.js'
import type { JournalEvent } from '../../topology/processor.js'
import { createServer } from '../server.js'
import { alarmsTaken } from '../test-effectors.js'
import { httpPeerTransport } from './peer-transport.js'

/** Several instances in this process, on one log in memory; they reach one another over loopback ports. */
export interface TestCluster {
  readonly log: EmbeddedLog
  readonly partitions: number
  /** Resolves when the instance listens and has joined the group. */
  start(): Promise<TestInstance>
}

export interface TestInstance {
  readonly url: string
  readonly token: string
  readonly application: Application
  readonly streams: ClusterStreams
  /** What calls to other instances have come to nothing. */
  readonly errors: readonly PeerError[]
  /** Partitions of trust levels whose live tasks are here. */
  readonly live: () => readonly number[]
  request(options: InjectOptions | string): Promise<LightMyRequestResponse>
  /** Takes no more connections, and ends those there are. */
  cutOff(): Promise<void>
  /** Leaves the group, then takes no more connections. */
  stop(): Promise<void>
}

export const DOMAIN = 'trust-level'
let instances = 0

/** Ends with the test. */
export async function testCluster(
  t: { teardown(close: () => Promise<void>): void },
  partitions = 4,
  standbyReplicas = 1,
): Promise<TestCluster> {
  const clock = systemClock
  const log = await openEmbeddedLogAt(memoryProvider(), 'log', {
    clock,
    newIncarnation: () => `incarnation-${++instances}`,
    onCleanError: () => undefined,
  })
  const running = new Set<TestInstance>()
  t.teardown(async () => {
    for (const instance of running) await instance.stop()
    await log.close()
  })

  async function start(): Promise<TestInstance> {
    const name = `start-${++instances}`
    const settings = settingsWith({ applicationId: 'test' })
    const application = new Application({
      applicationId: 'test',
      instance: name,
      processors: processors({
        settings,
        dmiHealthCheck: allUp,
        keepAliveEffectors: [],
        alertmanager: alarmsTaken,
        random: () => 0.5,
      }),
      log,
      stores: memoryProvider(),
      clock,
      partitions,
      commitIntervalMs: 20,
      changelogIntervalMs: 40,
      journalRetentionMs: 7 * 24 * 3_600_000,
      stateCacheBytes: 4 * 1024 * 1024,
      createInputTopics: true,
      standbyReplicas,
      observer: silentObserver,
      onFatal: (error) => {
        throw error
      },
    })
    const errors: PeerError[] = []
    const transport = httpPeerTransport(clock)
    const peers = new Peers({ transport, clock, onError: (error) => errors.push(error) })
    const streams = new ClusterStreams({ local: application, directory: application.directory, peers, clock })
    const token = `token of ${name}`
    let ids = 0
    const server = await createServer({
      streams,
      instances: { local: application, token },
      clock,
      host: '127.0.0.1',
      port: 0,
      newId: () => `${name}-${++ids}`,
      logger: pino({ level: 'silent' }),
      pluginAddressPolicy: pluginAddressPolicy(settings, []),
      ricId: 'AACCE',
      ncmpBasePath: '/ncmp',
      ncmpInventoryBasePath: '/ncmpInventory',
      applicationId: 'test',
      auditToken: '',
      auditSource: () => Promise.resolve({ reader: streams.log }),
      openAuditStore: () => memoryProvider().open('audit'),
      auditCopies: () => copiesOf(application),
      decodeRecord: () => undefined,
      metrics: { contentType: 'text/plain', metrics: () => Promise.resolve('') },
    })
    const url = await server.start()
    await application.start({ advertisedUrl: url, token })
    const instance: TestInstance = {
      ...{ url, token, application, streams, errors },
      live: () =>
        application.tasks.flatMap(({ state, partition, processor }) =>
          state === 'LIVE' && processor.name === DOMAIN ? [partition] : [],
        ),
      request: (options) => server.app.inject(options),
      async cutOff() {
        server.app.server.close()
        server.app.server.closeAllConnections()
        await Promise.resolve()
      },
      async stop() {
        if (!running.delete(instance)) return
        await application.stop()
        await server.stop()
        await transport.close()
      },
    }
    running.add(instance)
    return instance
  }
  return { log, partitions, start }
}

/** Resolves when the instances have all partitions among them, live. */
export async function untilLive(partitions: number, ...among: readonly TestInstance[]): Promise<void> {
  const isShared = (): boolean =>
    among.every(({ live }) => live().length > 0) && among.flatMap(({ live }) => live()).length === partitions
  while (!isShared()) await turn()
}

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const allUp = {
  kind: 'dmi-health-check',
  deadlineMs: 1000,
  perform: ({ target }: { readonly target: string }): Promise<JournalEvent> => {
    const data = { plugin: target, up: true, healthPath: '/manage/health/readiness', reason: 'status UP' }
    return Promise.resolve({ type: 'DmiPluginChecked', data })
  },
}
