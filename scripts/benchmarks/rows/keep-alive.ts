import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { keepAliveQueries } from '../../../processors/keep-alive/index.js'
import { partitionOf } from '../../../topology/partitioner.js'
import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import type { Pulsefold } from '../../process/pulsefold.js'
import { until } from '../answers.js'
import { deviceIds, registerDevices } from '../devices.js'
import { percentile } from '../figure.js'
import type { Figure } from '../figure.js'
import { HEARTBEAT_TOPIC, heartbeatRecord, PARTITIONS } from '../heartbeats.js'
import { startHttpCaller } from '../http-caller.js'
import { startService } from '../service.js'
import { BenchTerminations } from '../terminations.js'
import type { Termination } from '../terminations.js'

const DELAY_MS = 500
const RICS = 100
const INSTANCES_OF_RIC = 20
const RANS_OF_RIC = 100
const RANS_OF_KILLED = 10_000
const HEARTBEATS_PER_S = 1000
const SECONDS = 20

/** Ticks of many instances, ticks beside trust-level traffic, and the kill of an instance with very many RANs. */
export async function keepAlive(directory: string): Promise<readonly Figure[]> {
  return [
    {
      what: 'one tick of 1,000 E2T instances, CPU time with all that the engine does for it',
      value: await tickOf(1000, join(directory, 'thousand')),
      unit: 'ms',
      atMost: 5,
    },
    { what: 'the same of one E2T instance', value: await tickOf(1, join(directory, 'one')), unit: 'ms' },
    ...(await manyRics(join(directory, 'rics'))),
    ...(await killOfMany(join(directory, 'kill'))),
  ]
}

/** CPU time of ticks with all that follows from them, less that of the same time without an instance. */
async function tickOf(count: number, directory: string): Promise<number> {
  const delayMs = 200
  // So long that nobody answers while it is measured, and so short that silence is judged in full.
  const service = await startService(directory, { keepAliveDelayMs: delayMs, keepAliveResponseTimeoutMs: 10_000 })
  const windowMs = 4000
  const idleMs = await cpuMsWithin(windowMs)
  const terminations = new BenchTerminations(service)
  const all = Array.from({ length: count }, (_, i) => ({ ric: 'AACCE', address: `10.0.${i >> 8}.${i & 255}:38000` }))
  await terminations.init(all)
  await until(async () => (await listed(service, 'AACCE')) === all.length)
  await pause(3000)
  await terminations.answer(all)
  await pause(5500)
  const value = ((await cpuMsWithin(windowMs)) - idleMs) / (windowMs / delayMs)
  await service.stop()
  return value
}

/** How late requests stand in the log, while trust levels are reported on the same instance. */
async function manyRics(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  const ids = deviceIds(20_000)
  await registerDevices(caller, plugin.address, ids)
  const terminations = new BenchTerminations(service)
  const rics = Array.from({ length: RICS }, (_, i) => i.toString(16).toUpperCase().padStart(5, '0'))
  const ofRic = new Map(rics.map((ric, i) => [ric, instancesOf(ric, i)]))
  await terminations.init([...ofRic.values()].flat())
  await until(async () => {
    await answerAll(terminations, ofRic)
    return (await Promise.all(rics.map((ric) => listed(service, ric)))).every((count) => count === INSTANCES_OF_RIC)
  })
  for (const [ric, instances] of ofRic) {
    for (const [i, instance] of instances.entries()) {
      const share = RANS_OF_RIC / INSTANCES_OF_RIC
      await terminations.setUp(
        instance,
        Array.from({ length: share }, (_, j) => `gnb-${ric}-${i}-${j}`),
      )
    }
    await answerAll(terminations, ofRic)
  }
  const lateMs: number[] = []
  const started = performance.now()
  let sent = 0
  const cpuBefore = process.cpuUsage()
  while (performance.now() - started < SECONDS * 1000) {
    for (const late of await answerAll(terminations, ofRic)) lateMs.push(late)
    const due = Math.floor(((performance.now() - started) * HEARTBEATS_PER_S) / 1000)
    for (; sent < due; sent++) {
      const cmHandle = ids[sent % ids.length] ?? ''
      const trustLevel = Math.floor(sent / ids.length) % 2 === 0 ? ('NONE' as const) : ('COMPLETE' as const)
      const record = heartbeatRecord({ cmHandle, trustLevel }, Date.now())
      void service.application.log.append(HEARTBEAT_TOPIC, partitionOf(cmHandle, PARTITIONS), [record])
    }
    await pause(2)
  }
  const { user, system } = process.cpuUsage(cpuBefore)
  const alive = await Promise.all(rics.map((ric) => listed(service, ric)))
  const killed = RICS * INSTANCES_OF_RIC - alive.reduce((sum, count) => sum + count, 0)
  caller.close()
  await plugin.close()
  await service.stop()
  const what = `${RICS} RICs with ${INSTANCES_OF_RIC} E2T instances each, ${HEARTBEATS_PER_S} heartbeats a second:`
  return [
    { what: `${what} lateness of ticks, p50`, value: percentile(lateMs, 0.5), unit: 'ms' },
    { what: `${what} lateness of ticks, p99`, value: percentile(lateMs, 0.99), unit: 'ms', atMost: 50 },
    { what: `${what} instances killed`, value: killed, unit: 'times', atMost: 0 },
    {
      what: `${what} CPU time a second, with the other side`,
      value: (user + system) / 1000 / SECONDS,
      unit: 'ms',
      compared: 'of 1,000 ms a core',
    },
  ]
}

/** From the tick that finds the instance silent until its RANs are disconnected, and until the Routing Manager is called. */
async function killOfMany(directory: string): Promise<readonly Figure[]> {
  let calledAt = 0
  const server = createServer((request, response) => {
    if (request.method === 'DELETE') calledAt = Date.now()
    request.resume().on('end', () => response.writeHead(201).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const routingManagerUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const service = await startService(directory, { routingManagerUrl, ricId: 'AACCE' })
  const terminations = new BenchTerminations(service)
  const instance = { ric: 'AACCE', address: 'e2t:38000' }
  const ofRic = new Map([['AACCE', [instance]]])
  await terminations.init([instance])
  await until(async () => (await listed(service, 'AACCE')) === 1)
  for (let from = 0; from < RANS_OF_KILLED; from += 1000) {
    await terminations.setUp(
      instance,
      Array.from({ length: 1000 }, (_, i) => `gnb-${from + i}`),
    )
    await answerAll(terminations, ofRic)
  }
  await until(async () => {
    await answerAll(terminations, ofRic)
    await pause(100)
    return (await owed(service)) === 0 && (await connected(service)) === RANS_OF_KILLED
  })
  let lastTickAt = 0
  await until(async () => {
    for (const { timestamp } of await terminations.requests()) if (calledAt === 0) lastTickAt = timestamp
    return calledAt > 0
  })
  await until(async () => (await connected(service)) === 0)
  const disconnectedMs = Date.now() - lastTickAt
  server.close()
  server.closeAllConnections()
  await service.stop()
  const what = `kill of an instance with ${RANS_OF_KILLED} RANs, from its tick:`
  return [
    { what: `${what} the Routing Manager is called`, value: calledAt - lastTickAt, unit: 'ms', atMost: 1000 },
    { what: `${what} all are seen disconnected`, value: disconnectedMs, unit: 'ms', atMost: 1000 },
  ]
}

function instancesOf(ric: string, number: number): readonly Termination[] {
  return Array.from({ length: INSTANCES_OF_RIC }, (_, i) => ({ ric, address: `10.${number}.0.${i}:38000` }))
}

/** Answers what was asked since the last call; tells how late each broadcast was. */
async function answerAll(
  terminations: BenchTerminations,
  ofRic: ReadonlyMap<string, readonly Termination[]>,
): Promise<readonly number[]> {
  const requests = await terminations.requests()
  const broadcasts = requests.filter(({ headers }) => !headers.some(([name]) => name === 'ce_e2t'))
  if (requests.length > 0) {
    const asked = new Set(requests.map(({ key }) => key?.toString() ?? ''))
    await terminations.answer([...asked].flatMap((ric) => ofRic.get(ric) ?? []))
  }
  // Ticks fall on multiples of the delay.
  return broadcasts.map(({ timestamp }) => timestamp % DELAY_MS)
}

async function listed({ application }: Pulsefold, ric: string): Promise<number> {
  const answer = await application.query('keep-alive', keepAliveQueries.e2tInstances, ric, { ric })
  return answer.ok ? answer.result.length : 0
}

async function connected({ application }: Pulsefold): Promise<number> {
  const ric = 'AACCE'
  const answer = await application.query('keep-alive', keepAliveQueries.rans, ric, { ric })
  return answer.ok ? answer.result.filter(({ state }) => state === 'CONNECTED').length : -1
}

async function owed({ application }: Pulsefold): Promise<number> {
  const answer = await application.query('keep-alive', keepAliveQueries.owedCalls, 'AACCE', {})
  return answer.ok ? answer.result.length : -1
}

async function cpuMsWithin(windowMs: number): Promise<number> {
  const before = process.cpuUsage()
  await pause(windowMs)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
