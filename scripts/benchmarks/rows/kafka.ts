import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../free-port.js'
import { systemClock } from '../../../common/clock.js'
import { openKafkaLog } from '../../../topology/log/kafka/kafka-log.js'
import type { Log } from '../../../topology/log/log.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { openAnchor } from '../anchor.js'
import type { Anchor, AnchorRun } from '../anchor.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import { byPartition, PARTITIONS } from '../heartbeats.js'
import type { Heartbeat } from '../heartbeats.js'
import { startHttpCaller } from '../http-caller.js'
import { spawnServer } from '../server-process.js'
import type { ServerProcess } from '../server-process.js'
import { brokersOfRow } from '../two-instances.js'

const DEVICES = 60_000
const ROUNDS = 20
const RECORDS = DEVICES * ROUNDS
/** Of the devices, in each round: as many turn their level. */
const TURNING = 20
const LOOK_MS = 250
const READY_LOOK_MS = 10
const BATCH = 5000

/**
 * The fold of trust levels on real brokers, from the first record taken to all of it folded and in the changelog: exactly once,
 * commits of 100 ms; then the stores made anew from that changelog. With BENCH_ANCHOR, another implementation of such a fold
 * does its work on the same brokers.
 */
export async function kafka(directory: string): Promise<readonly Figure[]> {
  const brokers = brokersOfRow()
  const name = `bench-${process.pid}-${Date.now()}`
  const topic = `${name}-heartbeats`
  const port = await freePort()
  const flags = [`--kafka-brokers=${brokers}`, `--application-id=${name}`, '--create-input-topics=true']
  flags.push(`--heartbeat-topic=${topic}`, `--trust-level-notice-topic=${name}-notices`, `--http-port=${port}`)
  const start = (): ServerProcess => spawnServer(join(directory, 'data'), flags)

  const before = start()
  const caller = startHttpCaller(await before.ready)
  const plugin = await startDmiPlugin()
  await registerDevices(caller, plugin.address, deviceIds(DEVICES))
  caller.close()
  await before.stop()
  const log = await openKafkaLog({
    ...{ brokers: brokers.split(','), clientId: name, clock: systemClock },
    onFatal(error) {
      throw error
    },
  })
  await produce(log, topic)
  const raw = await readAll(log, topic)
  await log.close()

  const server = start()
  const run = await measured(server, `http://127.0.0.1:${port}`)
  await server.stop()
  await rm(join(directory, 'data', 'stores'), { recursive: true })
  const empty = start()
  const restored = await measuredRestore(`http://127.0.0.1:${port}`)
  await empty.stop()
  await plugin.close()
  const anchor = await openAnchor(directory, brokers)
  return [...figures(run, raw, await anchor?.throughput()), ...restoreFigures(restored, await anchor?.restore())]
}

interface Run {
  readonly perSecond: number
  readonly cpuSeconds: number
  readonly peakMb: number
}

/** Waits until every record is folded and in the changelog; what lies before the first one taken does not count. */
async function measured(server: ServerProcess, url: string): Promise<Run> {
  let started: { readonly at: number; readonly cpu: number; readonly taken: number } | undefined
  for (;;) {
    await pause(LOOK_MS)
    const metrics = await metricsOf(url)
    if (metrics === undefined) continue
    const taken = sumOf(metrics, 'pulsefold_ingested_records_total')
    const cpu = sumOf(metrics, 'process_cpu_seconds_total')
    if (taken > 0) started ??= { at: performance.now(), cpu, taken }
    const folded = sumOf(metrics, 'pulsefold_fold_events_total', 'counter="heartbeats"')
    const lag = sumOf(metrics, 'pulsefold_changelog_lag_records', 'domain="trust-level"')
    if (started === undefined || folded < RECORDS || lag > 0) continue
    const records = RECORDS - started.taken
    return {
      perSecond: (records / (performance.now() - started.at)) * 1000,
      cpuSeconds: ((cpu - started.cpu) / records) * 1e6,
      peakMb: (await server.memory()).peak,
    }
  }
}

function figures(run: Run, raw: Pick<Run, 'perSecond' | 'cpuSeconds'>, anchor: AnchorRun | undefined) {
  const what = `${RECORDS / 1e6} million heartbeats of ${DEVICES} devices on Kafka`
  const theirs = anchor && { ...anchor, cpu: (anchor.cpuSeconds / anchor.records) * 1e6 }
  const compared = (text: string, ratio: number): Pick<Figure, 'compared'> => ({
    compared: `${text} by Kafka Streams here: ${ratio.toFixed(2)} times`,
  })
  const found: Figure[] = [
    {
      what: `${what}, folded and in the changelog`,
      value: run.perSecond,
      unit: '/s',
      ...(theirs && { atLeast: 1.5 * theirs.recordsPerSecond }),
      ...(theirs && compared(`${theirs.recordsPerSecond} /s`, run.perSecond / theirs.recordsPerSecond)),
    },
    {
      what: 'CPU time of a million of them',
      value: run.cpuSeconds * 1000,
      unit: 'ms',
      ...(theirs && { atMost: 500 * theirs.cpu }),
      ...(theirs && compared(`${Math.round(theirs.cpu * 1000)} ms`, run.cpuSeconds / theirs.cpu)),
    },
    { what: 'resident memory at most', value: run.peakMb, unit: 'MB', atMost: 300 },
    { what: `${what}, only read`, value: raw.perSecond, unit: '/s', compared: 'the client without processing' },
    { what: 'CPU time of a million of those', value: raw.cpuSeconds * 1000, unit: 'ms' },
  ]
  return found
}

interface Restored {
  readonly ms: number
  /** Of the whole process, from its start. */
  readonly cpuMs: number
  readonly records: number
}

/** From the first sign of a restore until all is live. */
async function measuredRestore(url: string): Promise<Restored> {
  let startedAt: number | undefined
  for (;;) {
    await pause(READY_LOOK_MS)
    const answer = await fetch(`${url}/ops/health/ready`).catch(() => undefined)
    if (answer === undefined) continue
    const { ready, restoring } = (await answer.json()) as { readonly ready: boolean; readonly restoring: object[] }
    if (restoring.length > 0) startedAt ??= performance.now()
    if (!ready) continue
    const ms = performance.now() - (startedAt ?? NaN)
    const metrics = (await metricsOf(url)) ?? ''
    const cpuMs = sumOf(metrics, 'process_cpu_seconds_total') * 1000
    return { ms, cpuMs, records: sumOf(metrics, 'pulsefold_restored_records_total') }
  }
}

function restoreFigures(
  { ms, cpuMs, records }: Restored,
  anchor: Awaited<ReturnType<Anchor['restore']>> | undefined,
): Figure[] {
  const what = `the stores of ${DEVICES} devices made anew from ${Math.round(records)} changelog records`
  const cpu = { what: 'CPU time of a start with that', value: cpuMs, unit: 'ms' } as const
  if (anchor === undefined) return [{ what, value: ms, unit: 'ms' }, cpu]
  const beside = (own: number, theirs: number): string =>
    `${Math.round(theirs)} ms by Kafka Streams here: ${(own / theirs).toFixed(2)} times`
  const [theirMs, theirCpuMs] = [anchor.seconds * 1000, anchor.cpuSeconds * 1000]
  return [
    { what, value: ms, unit: 'ms', atMost: theirMs, compared: beside(ms, theirMs) },
    { ...cpu, compared: beside(cpuMs, theirCpuMs) },
  ]
}

/** Each round is a heartbeat of every device. */
async function produce(log: Log, topic: string): Promise<void> {
  const ids = deviceIds(DEVICES)
  const start = Date.now() - RECORDS
  for (let round = 0; round < ROUNDS; round++) {
    const heartbeats = ids.map((cmHandle, i): Heartbeat => {
      const turns = Math.floor((round + TURNING - (i % TURNING)) / TURNING)
      return { cmHandle, trustLevel: turns % 2 === 0 ? 'COMPLETE' : 'NONE' }
    })
    const records = byPartition(heartbeats, start + round * 1000)
    await Promise.all(
      records.map(async (some, partition) => {
        for (let at = 0; at < some.length; at += BATCH) await log.append(topic, partition, some.slice(at, at + BATCH))
      }),
    )
  }
}

async function readAll(log: Log, topic: string): Promise<Pick<Run, 'perSecond' | 'cpuSeconds'>> {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  const counts = await Promise.all(
    Array.from({ length: PARTITIONS }, async (_, partition) => {
      const { end } = await log.offsets({ topic, partition })
      let count = 0
      for (let offset = 0; offset < end;) {
        const batch = await log.read({ topic, partition }, offset)
        count += batch.records.length
        offset = batch.next
      }
      return count
    }),
  )
  const count = counts.reduce((sum, one) => sum + one, 0)
  if (count !== RECORDS) throw new Error(`${count} records were read of ${RECORDS}`)
  const { user, system } = process.cpuUsage(cpu)
  return { perSecond: (count / (performance.now() - startedAt)) * 1000, cpuSeconds: (user + system) / count }
}

async function metricsOf(url: string): Promise<string | undefined> {
  try {
    return await (await fetch(`${url}/metrics`)).text()
  } catch {
    return undefined
  }
}

function sumOf(metrics: string, name: string, part = ''): number {
  return metrics
    .split('\n')
    .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && line.includes(part))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
