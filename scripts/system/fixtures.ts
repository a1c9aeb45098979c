import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { systemClock } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { silentLogger } from '../../common/logger.js'
import { settingsWith } from '../../common/settings.js'
import type { Settings } from '../../common/settings.js'
import { foreignClient } from '../../topology/log/kafka/foreign-client.js'
import type { Headers, NewRecord } from '../../topology/log/log.js'
import { startPulsefold } from '../process/pulsefold.js'
import type { Pulsefold } from '../process/pulsefold.js'
import { clientOf } from './http-client.js'
import type { Client } from './http-client.js'
import { until } from './until.js'

/** A plugin address that is registered and never checked by the tests that use it. */
export const PLUGIN = 'http://127.0.0.1:9'
export const HEARTBEATS = 'dmi-device-heartbeat'

/** A whole Pulsefold in this process. */
export interface System extends Client {
  readonly settings: Settings
  readonly pulsefold: () => Pulsefold
  /** Appends to the heartbeat topic; on Kafka as a foreign client does. */
  readonly append: (records: readonly NewRecord[], partition?: number) => Promise<void>
  /** Resolves when all heartbeats sent since the start are folded or refused. */
  readonly settled: () => Promise<void>
  readonly stop: () => Promise<void>
  readonly start: () => Promise<void>
  /** As `start`, without waiting for it to be ready. */
  readonly startUnready: () => Promise<void>
}

/** A folder that goes with the test, after all that was started later in the test has ended. */
export function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'pulsefold-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

/** Settings for a start on real brokers, with topics of its own, which go with the test. */
export async function onKafka(t: Test, brokers: readonly string[]): Promise<Partial<Settings>> {
  const applicationId = `system-${randomUUID()}`
  const values = {
    kafkaBrokers: brokers,
    createInputTopics: true,
    applicationId,
    heartbeatTopic: `${applicationId}-heartbeats`,
    trustLevelNoticeTopic: `${applicationId}-notices`,
    callOutcomeTopic: `${applicationId}-outcomes`,
    alarmTopic: `${applicationId}-alarms`,
    e2tMessagesTopic: `${applicationId}-e2t-messages`,
  }
  const { admin } = await foreignClient(t, brokers)
  const cleanUp = async (): Promise<void> => {
    const topics = (await admin.listTopics()).filter((topic) => topic.includes(applicationId))
    await admin.deleteTopics({ topics })
  }
  // The broker may have gone, and all topics with it.
  t.teardown(() => cleanUp().catch(() => undefined))
  return values
}

/** Starts on a directory of its own and a free port; by default plugins are checked once an hour. Ends with the test. */
export async function startSystem(
  t: Test,
  values: Partial<Settings> = {},
  clock: Clock = systemClock,
): Promise<System> {
  const settings = settingsWith({
    dataDir: temporaryFolder(t),
    httpPort: 0,
    partitions: 3,
    dmiHealthIntervalMs: 3_600_000,
    ...values,
  })
  const { heartbeatTopic } = settings
  let running: Pulsefold | undefined
  const pulsefold = (): Pulsefold => {
    if (running === undefined) throw new Error('Pulsefold is not started')
    return running
  }
  /** Heartbeats sent in this life of Pulsefold, on the topic and over HTTP. */
  let sent = 0
  const client = clientOf(
    () => pulsefold().url,
    (events) => (sent += events),
    settings,
  )
  const failures: Error[] = []
  const start = async (waiting?: AbortSignal): Promise<void> => {
    sent = 0
    running = await startPulsefold(settings, silentLogger(), clock, (error) => failures.push(error), waiting)
  }
  const stop = async (): Promise<void> => {
    const stopping = running
    running = undefined
    await stopping?.stop()
  }
  t.teardown(async () => {
    client.close()
    await stop()
    if (failures[0] !== undefined) throw failures[0]
  })
  await start()
  const { kafkaBrokers } = settings
  const foreign = kafkaBrokers.length > 0 ? await foreignClient(t, kafkaBrokers) : undefined
  const append = (partition: number, records: readonly NewRecord[]): Promise<unknown> =>
    foreign === undefined
      ? pulsefold().application.log.append(heartbeatTopic, partition, records)
      : foreign.append({ topic: heartbeatTopic, partition }, records)

  return {
    ...client,
    settings,
    pulsefold,
    start: () => start(),
    startUnready: () => start(AbortSignal.abort()),
    stop,
    async append(records, partition = 0) {
      await append(partition, records)
      sent += records.length
    },
    async settled() {
      await until(`${sent} heartbeats are folded or refused`, async () => (await dealtWith(client)) >= sent, 120_000)
    },
  }
}

async function dealtWith({ metric }: Client): Promise<number> {
  const folded = await metric('pulsefold_fold_events_total', 'counter="heartbeats"')
  return folded + (await metric('pulsefold_ingested_records_total', 'result="rejected"'))
}

export interface HeartbeatParts {
  readonly key?: string | null
  readonly value?: string | Buffer | null
  readonly timestamp?: number
  /** Over the usual ones; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** A binary CloudEvent as a DMI plugin sends it. */
export function heartbeat(cmHandle: string, trustLevel: unknown, parts: HeartbeatParts = {}): NewRecord {
  const all: Record<string, string | undefined> = {
    ce_specversion: '1.0',
    ce_id: cmHandle,
    ce_source: 'test',
    ce_type: 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel',
    'content-type': 'application/json',
    ...parts.headers,
  }
  const headers: Headers = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, Buffer.from(value)] as const],
  )
  const { key = cmHandle, value = JSON.stringify({ data: { trustLevel } }), timestamp } = parts
  return {
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
    headers,
    ...(timestamp !== undefined && { timestamp }),
  }
}

export type Health = (request: IncomingMessage, response: ServerResponse) => void

/** Answers as Spring's actuator does. */
export const up: Health = (_request, response) => void response.end('{"status":"UP"}')
export const down: Health = (_request, response) => void response.writeHead(503).end('{"status":"DOWN"}')

export interface PluginDouble {
  readonly address: string
  readonly port: number
  /** Paths asked for, in order. */
  readonly asked: string[]
  /** When each request came, on the monotonic clock. */
  readonly askedAt: number[]
  /** Most requests, and most connections, that there were at a time. */
  readonly mostAtOnce: { requests: number; connections: number }
  health: Health
  /** Takes no new connections; those there stay. */
  refuse(): void
}

/** A DMI plugin's health endpoint on loopback. Ends with the test. */
export async function startPlugin(t: Test, health: Health = up, keepAliveTimeout = 100): Promise<PluginDouble> {
  let requests = 0
  const sockets = new Set<Socket>()
  const server = createServer({ keepAliveTimeout }, (request, response) => {
    requests++
    response.once('close', () => requests--)
    double.mostAtOnce.requests = Math.max(double.mostAtOnce.requests, requests)
    double.asked.push(request.url ?? '')
    double.askedAt.push(performance.now())
    double.health(request, response)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    double.mostAtOnce.connections = Math.max(double.mostAtOnce.connections, sockets.size)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const double: PluginDouble = {
    address: `http://127.0.0.1:${port}`,
    port,
    asked: [],
    askedAt: [],
    mostAtOnce: { requests: 0, connections: 0 },
    health,
    refuse: () => void server.close(),
  }
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return double
}
