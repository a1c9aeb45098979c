import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDmiPlugin } from '../simulate/dmi-plugin.js'
import { registerDevices } from './devices.js'
import { PARTITIONS } from './heartbeats.js'
import { startHttpCaller } from './http-caller.js'
import type { HttpCaller } from './http-caller.js'
import { startServerProcess } from './server-process.js'

/** Two processes of one application on real brokers, with devices registered; each owns some of the partitions. */
export interface TwoInstances {
  readonly brokers: string
  readonly heartbeatTopic: string
  readonly noticeTopic: string
  readonly here: string
  readonly owner: string
  readonly callers: { readonly here: HttpCaller; readonly owner: HttpCaller }
  /** Partitions of the second, `owner`. */
  readonly owned: ReadonlySet<number>
  stop(): Promise<void>
}

/** The brokers of PULSEFOLD_KAFKA_BROKERS, which rows on Kafka need. */
export function brokersOfRow(): string {
  const brokers = process.env['PULSEFOLD_KAFKA_BROKERS'] ?? ''
  if (brokers === '') throw new Error('this row needs a broker: `./scripts/services start`, and export what it prints')
  return brokers
}

export async function startTwoInstances(directory: string, ids: readonly string[]): Promise<TwoInstances> {
  const brokers = brokersOfRow()
  const name = `bench-${process.pid}-${Date.now()}`
  const [heartbeatTopic, noticeTopic] = [`${name}-heartbeats`, `${name}-notices`]
  const flags = [`--kafka-brokers=${brokers}`, `--application-id=${name}`, '--create-input-topics=true']
  flags.push(`--heartbeat-topic=${heartbeatTopic}`, `--trust-level-notice-topic=${noticeTopic}`)
  const servers = await Promise.all(['a', 'b'].map((one) => startServerProcess(join(directory, one), flags)))
  const [here, owner] = servers.map(({ url }) => url)
  if (here === undefined || owner === undefined) throw new Error('two instances were started')
  const plugin = await startDmiPlugin()
  const callers = { here: startHttpCaller(here), owner: startHttpCaller(owner) }
  const owned = await untilShared(here, owner)
  await registerDevices(callers.here, plugin.address, ids)
  return {
    ...{ brokers, heartbeatTopic, noticeTopic, here, owner, callers, owned },
    async stop() {
      for (const caller of Object.values(callers)) caller.close()
      await plugin.close()
      await Promise.all(servers.map((server) => server.stop()))
    },
  }
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
