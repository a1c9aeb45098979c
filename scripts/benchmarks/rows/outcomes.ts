import type { Figure } from '../figure.js'
import { startHttpCaller } from '../http-caller.js'
import {
  countedCalls,
  createPlatforms,
  OUTCOME_TOPIC,
  outcomesByPartition,
  platformNames,
  untilCounted,
} from '../platforms.js'
import { startService } from '../service.js'
import { appendAndRead } from './raw.js'

const PLATFORMS = 1000
const OUTCOMES = 100_000
const ROUNDS = 3

/** Outcomes of calls over 1,000 platforms of ten addresses each, in bursts; the last one is measured. */
export async function outcomes(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const { application } = service
  const caller = startHttpCaller(service.url)
  const platforms = platformNames(PLATFORMS)
  await createPlatforms(caller, platforms)
  caller.close()

  let foldedMs = 0
  let cpuMs = 0
  let rawMs = 0
  for (let round = 0; round < ROUNDS; round++) {
    const records = outcomesByPartition(platforms, round * OUTCOMES, OUTCOMES)
    const raw = await appendAndRead(application.log, records)
    rawMs = raw.appendMs + raw.readMs
    const cpuBefore = process.cpuUsage()
    const started = performance.now()
    const appended = records.map((some, partition) => application.log.append(OUTCOME_TOPIC, partition, some))
    await Promise.all(appended)
    await untilCounted(application, records, ((round + 1) * OUTCOMES) / PLATFORMS)
    foldedMs = performance.now() - started
    const { user, system } = process.cpuUsage(cpuBefore)
    cpuMs = (user + system) / 1000
    const counted = await countedCalls(application)
    const expected = { calls: (round + 1) * OUTCOMES, failed: ((round + 1) * OUTCOMES) / 10 }
    if (counted.calls !== expected.calls || counted.failed !== expected.failed) {
      throw new Error(`counted are ${JSON.stringify(counted)}, not ${JSON.stringify(expected)}`)
    }
  }
  await service.stop()
  return [
    {
      what: `${OUTCOMES} outcomes appended and folded`,
      value: foldedMs,
      unit: 'ms',
      atMost: 1000,
      compared: `${(foldedMs / rawMs).toFixed(1)} times append and read of the same records without processing`,
    },
    { what: 'outcomes a second of CPU time', value: (OUTCOMES / cpuMs) * 1000, unit: '/s' },
  ]
}
