import { addressHealthQueries } from '../../../processors/address-health/index.js'
import { partitionOf } from '../../../topology/partitioner.js'
import { percentile } from '../figure.js'
import type { Figure } from '../figure.js'
import { PARTITIONS } from '../heartbeats.js'
import type { HttpRequest } from '../http-connection.js'
import { startHttpCaller } from '../http-caller.js'
import {
  ADDRESS_HEALTH,
  ADDRESSES,
  createPlatforms,
  OUTCOME_TOPIC,
  outcomeRecord,
  platformNames,
} from '../platforms.js'
import { sendAtRate } from '../send-at-rate.js'
import { startService } from '../service.js'

const PLATFORMS = 1000
const OUTCOMES_PER_S = 1000
const WARM_MS = 5000
const RUN_MS = 10_000
const DECISIONS = 20_000

/** Selections over HTTP at two rates, while outcomes arrive; and the decision alone. */
export async function selections(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const { application } = service
  const caller = startHttpCaller(service.url)
  const platforms = platformNames(PLATFORMS)
  await createPlatforms(caller, platforms)

  let isSelecting = true
  const sendOutcome = (number: number): Promise<unknown> => {
    const platform = platforms[number % PLATFORMS] ?? ''
    const record = outcomeRecord(platform, Math.floor(number / PLATFORMS) % ADDRESSES, number)
    return application.log.append(OUTCOME_TOPIC, partitionOf(platform, PARTITIONS), [record])
  }
  const requests = platforms.map((name): HttpRequest => {
    return { method: 'POST', path: `/external-platforms/${name}/selections`, body: '{"callId":"call-1"}' }
  })
  const sent = sendAtRate({ perSecond: OUTCOMES_PER_S, send: sendOutcome, isOver: () => !isSelecting })
  // Until all of it is compiled.
  await caller.send(requests, WARM_MS, 1000)
  const slow = await caller.send(requests, RUN_MS, 1000)
  const cpuBefore = process.cpuUsage()
  const fast = await caller.send(requests, RUN_MS, 5000)
  const { user, system } = process.cpuUsage(cpuBefore)
  isSelecting = false
  const rate = await sent
  caller.close()

  const { selection } = addressHealthQueries
  const started = performance.now()
  for (let decision = 0; decision < DECISIONS; decision++) {
    const platform = platforms[decision % PLATFORMS] ?? ''
    await application.query(ADDRESS_HEALTH, selection, platform, { platform })
  }
  const decisionUs = ((performance.now() - started) / DECISIONS) * 1000
  await service.stop()
  const compared = `at ${rate.toFixed(0)} outcomes a second`
  const perS = (count: number): string => `${((count / RUN_MS) * 1000).toFixed(0)} a second`
  return [
    {
      what: `a selection over HTTP, ${perS(slow.durationsMs.length)}, p99`,
      value: percentile(slow.durationsMs, 0.99),
      unit: 'ms',
      atMost: 2,
      compared,
    },
    {
      what: `a selection over HTTP, ${perS(fast.durationsMs.length)}, p99`,
      value: percentile(fast.durationsMs, 0.99),
      unit: 'ms',
      atMost: 10,
      compared,
    },
    {
      what: 'CPU time of the service for each of these',
      value: (user + system) / 1000 / fast.durationsMs.length,
      unit: 'ms',
      compared: 'outcomes and commits included',
    },
    { what: 'the decision alone, of the whole query', value: decisionUs / 1000, unit: 'ms', atMost: 0.05 },
  ]
}
