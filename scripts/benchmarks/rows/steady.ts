import { setTimeout as pause } from 'node:timers/promises'
import { partitionOf } from '../../../topology/partitioner.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { countNotices, ends, NOTICES_TOPIC, reader, until } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import { percentile } from '../figure.js'
import type { Figure } from '../figure.js'
import { HEARTBEAT_TOPIC, heartbeatRecord, PARTITIONS } from '../heartbeats.js'
import { startHttpCaller } from '../http-caller.js'
import { sendAtRate } from '../send-at-rate.js'
import { startService } from '../service.js'

const DEVICES = 60_000
const RATE_PER_S = 1000
const SECONDS = 20
/** Between two looks: fine enough for the bound, and a look at all partitions is work for the service, too. */
const LOOK_MS = 2
/** As DNS health checkers ask, in bursts. */
const HEALTH_RATE_PER_S = 20

interface Sent {
  readonly cmHandle: string
  readonly acknowledgedAt: number
}

/** What is acknowledged and not yet seen in one partition, in order. */
interface Waiting {
  readonly answers: Sent[]
  readonly notices: Sent[]
  noticesSeen: number
}

/** Each heartbeat a change of another device: how long from its acknowledgement to the changed answer, and to the notice. */
export async function steady(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const { application } = service
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  const ids = deviceIds(DEVICES)
  await registerDevices(caller, plugin.address, ids)
  const noticesBefore = await ends(application, NOTICES_TOPIC, PARTITIONS)
  const waiting = noticesBefore.map((noticesSeen): Waiting => ({ answers: [], notices: [], noticesSeen }))
  const read = reader(application)
  const answerMs: number[] = []
  const noticeMs: number[] = []

  async function look(): Promise<void> {
    for (const [partition, { answers }] of waiting.entries()) {
      for (let first = answers[0]; first !== undefined; first = answers[0]) {
        const answer = await read(first.cmHandle)
        if (!answer.found || answer.handle.trustLevel !== 'NONE') break
        answerMs.push(performance.now() - first.acknowledgedAt)
        answers.shift()
      }
      const some = waiting[partition] as Waiting
      if (some.notices.length === 0) continue
      const { end } = await application.log.offsets({ topic: NOTICES_TOPIC, partition })
      for (; some.noticesSeen < end && some.notices.length > 0; some.noticesSeen++) {
        noticeMs.push(performance.now() - (some.notices.shift()?.acknowledgedAt ?? NaN))
      }
    }
  }

  async function send(number: number): Promise<void> {
    const cmHandle = ids[number] ?? ''
    const partition = partitionOf(cmHandle, PARTITIONS)
    const record = heartbeatRecord({ cmHandle, trustLevel: 'NONE' }, Date.now())
    await application.log.append(HEARTBEAT_TOPIC, partition, [record])
    const sent = { cmHandle, acknowledgedAt: performance.now() }
    waiting[partition]?.answers.push(sent)
    waiting[partition]?.notices.push(sent)
  }

  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  const count = RATE_PER_S * SECONDS
  const healthPath = { method: 'GET', path: '/notification/healthCheck' } as const
  const health = caller.send([healthPath], SECONDS * 1000, HEALTH_RATE_PER_S)
  await sendAtRate({
    ...{ perSecond: RATE_PER_S, send, isOver: (sent) => sent === count },
    async between() {
      await look()
      await pause(LOOK_MS)
    },
  })
  await until(async () => {
    await look()
    return answerMs.length === count && noticeMs.length === count
  })
  const { user, system } = process.cpuUsage(cpuBefore)
  const seconds = (performance.now() - started) / 1000
  const before = noticesBefore.reduce((sum, end) => sum + end, 0)
  const notices = (await countNotices(application, PARTITIONS)) - before
  if (notices !== count) throw new Error(`${notices} notices of ${count} changes`)
  const { durationsMs: healthMs } = await health
  caller.close()
  await plugin.close()
  await service.stop()
  const what = `at ${RATE_PER_S} changes a second, acknowledged heartbeat to`
  return [
    { what: `${what} changed answer, p50`, value: percentile(answerMs, 0.5), unit: 'ms' },
    { what: `${what} changed answer, p99`, value: percentile(answerMs, 0.99), unit: 'ms', atMost: 20 },
    { what: `${what} notice, p50`, value: percentile(noticeMs, 0.5), unit: 'ms' },
    { what: `${what} notice, p99`, value: percentile(noticeMs, 0.99), unit: 'ms' },
    { what: 'health address meanwhile, p99', value: percentile(healthMs, 0.99), unit: 'ms', atMost: 50 },
    {
      what: 'CPU time a second, with sending and looking',
      value: (user + system) / 1000 / seconds,
      unit: 'ms',
      compared: 'of 1,000 ms a core',
    },
  ]
}
