import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { partitionOf } from '../../../topology/partitioner.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { deviceIds, registerDevices } from '../devices.js'
import { percentile } from '../figure.js'
import type { Figure } from '../figure.js'
import { PARTITIONS } from '../heartbeats.js'
import type { HttpRequest } from '../http-caller-process.js'
import { startHttpCaller } from '../http-caller.js'
import type { HttpCaller } from '../http-caller.js'
import { startServerProcess } from '../server-process.js'

const DEVICES = 12_000
const READ_MS = 5000
const CONNECTIONS = 50
/** Pairs of measurements, so that what else the machine does falls on both sides. */
const ROUNDS = 3

/** Reads of keys that another instance owns, asked there and here; two processes on the Kafka cluster of PULSEFOLD_KAFKA_BROKERS. */
export async function forward(directory: string): Promise<readonly Figure[]> {
  const brokers = process.env['PULSEFOLD_KAFKA_BROKERS'] ?? ''
  if (brokers === '') throw new Error('this row needs a broker: `./scripts/services start`, and export what it prints')
  const name = `bench-${process.pid}-${Date.now()}`
  const flags = [`--kafka-brokers=${brokers}`, `--application-id=${name}`, '--create-input-topics=true']
  flags.push(`--heartbeat-topic=${name}-heartbeats`, `--trust-level-notice-topic=${name}-notices`)
  const servers = await Promise.all(['a', 'b'].map((one) => startServerProcess(join(directory, one), flags)))
  const [here, owner] = servers.map(({ url }) => url)
  if (here === undefined || owner === undefined) throw new Error('two instances were started')
  const plugin = await startDmiPlugin()
  const callers = { here: startHttpCaller(here), owner: startHttpCaller(owner) }
  const owned = await untilShared(here, owner)
  const ids = deviceIds(DEVICES)
  await registerDevices(callers.here, plugin.address, ids)
  const requests = ids.flatMap((id): readonly HttpRequest[] =>
    owned.has(partitionOf(id, PARTITIONS)) ? [{ method: 'GET', path: `/ncmp/v1/ch/${id}` }] : [],
  )
  const measure = async (caller: HttpCaller, connections: number): Promise<readonly number[]> =>
    (await caller.sendAtOnce(requests.slice(0, 1000), READ_MS, connections)).durationsMs
  await measure(callers.owner, 1)
  await measure(callers.here, 1)
  const single = { here: [] as number[], owner: [] as number[] }
  const many = { here: [] as number[], owner: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of ['owner', 'here'] as const) {
      single[side].push(...(await measure(callers[side], 1)))
      many[side].push(...(await measure(callers[side], CONNECTIONS)))
    }
  }
  for (const caller of Object.values(callers)) caller.close()
  await plugin.close()
  await Promise.all(servers.map((server) => server.stop()))
  const median = (sample: readonly number[]): number => percentile(sample, 0.5)
  const perSecond = (sample: readonly number[]): number => (sample.length / (ROUNDS * READ_MS)) * 1000
  const p99 = (sample: readonly number[]): number => percentile(sample, 0.99)
  const beside = (ms: number): string => `${ms.toFixed(2)} ms when its owner is asked`
  return [
    { what: 'a forwarded read, p50', value: median(single.here), unit: 'ms', compared: beside(median(single.owner)) },
    {
      what: 'a forwarded read, p99',
      value: p99(single.here),
      unit: 'ms',
      atMost: 5,
      compared: beside(p99(single.owner)),
    },
    {
      what: 'the same, p50',
      value: median(single.here) / median(single.owner),
      unit: 'times',
      compared: 'owner asked',
    },
    { what: `reads at ${CONNECTIONS} connections, owner asked`, value: perSecond(many.owner), unit: '/s' },
    { what: `reads at ${CONNECTIONS} connections, forwarded`, value: perSecond(many.here), unit: '/s' },
    { what: 'one of these, p99', value: p99(many.here), unit: 'ms', compared: beside(p99(many.owner)) },
  ]
}

/** Resolves when both have partitions, live, and nobody has one twice: with those of the second. */
async function untilShared(...urls: readonly [here: string, owner: string]): Promise<ReadonlySet<number>> {
  for (;;) {
    const [ofHere, ofOwner] = await Promise.all([livePartitions(urls[0]), livePartitions(urls[1])])
    if (ofHere.size > 0 && ofOwner.size > 0 && ofHere.size + ofOwner.size === PARTITIONS) return ofOwner
    await pause(200)
  }
}

async function livePartitions(url: string): Promise<ReadonlySet<number>> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const series = [...text.matchAll(/^pulsefold_task_state\{(.*)\} 1$/gm)].map((match) => match[1] ?? '')
  const live = series.filter((labels) => labels.includes('"trust-level"') && labels.includes('"LIVE"'))
  return new Set(live.map((labels) => Number(/partition="(\d+)"/.exec(labels)?.[1])))
}
