import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { systemClock } from '../../../common/clock.js'
import { openKafkaLog } from '../../../topology/log/kafka/kafka-log.js'
import type { GroupListener, Log } from '../../../topology/log/log.js'
import { partitionOf } from '../../../topology/partitioner.js'
import { until } from '../answers.js'
import { deviceIds } from '../devices.js'
import { percentile } from '../figure.js'
import type { Figure } from '../figure.js'
import { heartbeatRecord, PARTITIONS } from '../heartbeats.js'
import { sendAtRate } from '../send-at-rate.js'
import { startTwoInstances } from '../two-instances.js'
import type { TwoInstances } from '../two-instances.js'

const RATE_PER_S = 1000
const WARM_SECONDS = 5
const SECONDS = 15
const DEVICES = RATE_PER_S * (WARM_SECONDS + SECONDS)
/** Of the changes, one in so many is asked for: each is asked over and over until it is seen. */
const ASKED = 20
/** Between two looks at one, or a tenth of what it has waited: looking must not slow down what is slow. */
const LOOK_MS = 2
const CONNECTIONS = 32

/**
 * Two instances on real brokers, each heartbeat a change of another device: how long from its acknowledgement to the changed answer,
 * asked at either instance, and to the notice as a reader of committed records has it.
 */
export async function steadyKafka(directory: string): Promise<readonly Figure[]> {
  const ids = deviceIds(DEVICES)
  const instances = await startTwoInstances(directory, ids)
  const log = await openKafkaLog({
    ...{ brokers: instances.brokers.split(','), clientId: 'bench-changes', clock: systemClock },
    onFatal(error) {
      throw error
    },
  })
  const noticedAt = await readNotices(log, instances.noticeTopic)
  const pools = [instances.here, instances.owner].map((url) => new Pool(url, { connections: CONNECTIONS }))
  const answerMs: number[] = []
  const acknowledgedAt = new Map<string, number>()

  async function send(index: number): Promise<void> {
    const cmHandle = ids[index] as string
    const record = heartbeatRecord({ cmHandle, trustLevel: 'NONE' }, Date.now())
    await log.append(instances.heartbeatTopic, partitionOf(cmHandle, PARTITIONS), [record])
    const at = performance.now()
    acknowledgedAt.set(cmHandle, at)
    if (index % ASKED > 0) return
    await untilNone(pools[(index / ASKED) % 2] as Pool, cmHandle)
    if (index >= RATE_PER_S * WARM_SECONDS) answerMs.push(performance.now() - at)
  }

  const cpuBefore = await cpuSeconds(instances)
  const startedAt = performance.now()
  await sendAtRate({ perSecond: RATE_PER_S, send, isOver: (sent) => sent === DEVICES })
  const changed = ids.slice(RATE_PER_S * WARM_SECONDS)
  await until(() => Promise.resolve(changed.every((id) => noticedAt.has(id))))
  const cpu = ((await cpuSeconds(instances)) - cpuBefore) / ((performance.now() - startedAt) / 1000)
  const noticeMs = changed.map((id) => (noticedAt.get(id) ?? NaN) - (acknowledgedAt.get(id) ?? NaN))
  await Promise.all(pools.map((pool) => pool.close()))
  await log.close()
  await instances.stop()
  const what = `at ${RATE_PER_S} changes a second over two instances, acknowledged heartbeat to`
  return [
    { what: `${what} changed answer, p50`, value: percentile(answerMs, 0.5), unit: 'ms' },
    { what: `${what} changed answer, p99`, value: percentile(answerMs, 0.99), unit: 'ms', atMost: 40 },
    { what: `${what} notice, p50`, value: percentile(noticeMs, 0.5), unit: 'ms' },
    { what: `${what} notice, p99`, value: percentile(noticeMs, 0.99), unit: 'ms', atMost: 40 },
    { what: 'CPU time a second of both', value: cpu * 1000, unit: 'ms', compared: 'of 1,000 ms a core' },
  ]
}

async function cpuSeconds({ here, owner }: TwoInstances): Promise<number> {
  const texts = await Promise.all([here, owner].map(async (url) => (await fetch(`${url}/metrics`)).text()))
  return texts.reduce((sum, text) => sum + Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]), 0)
}

/** When each handle's notice of NONE was read. */
async function readNotices(log: Log, topic: string): Promise<ReadonlyMap<string, number>> {
  const noticedAt = new Map<string, number>()
  const listener: GroupListener = {
    onAssigned: () => Promise.resolve([]),
    onRevoked: () => Promise.resolve(),
    onBatch({ records }) {
      const at = performance.now()
      for (const { key, value } of records) {
        if (value?.toString().endsWith('"newAttributeValue":"NONE"}]}}') === true) noticedAt.set(String(key), at)
      }
      return Promise.resolve()
    },
    onGap: () => undefined,
    onError(error) {
      throw error
    },
  }
  await log.join({ group: `${topic}-reader`, topics: [topic], listener })
  return noticedAt
}

async function untilNone(pool: Pool, cmHandle: string): Promise<void> {
  const startedAt = performance.now()
  for (;;) {
    const { statusCode, body } = await pool.request({ method: 'GET', path: `/ncmp/v1/ch/${cmHandle}` })
    const text = await body.text()
    if (statusCode !== 200) throw new Error(`${cmHandle} is answered with ${statusCode}: ${text}`)
    if (text.includes('"trustLevel":"NONE"')) return
    await pause(Math.max(LOOK_MS, (performance.now() - startedAt) / 10))
  }
}
