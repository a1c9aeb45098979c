import { setTimeout as pause } from 'node:timers/promises'
import { trustLevelQueries } from '../../processors/trust-level/index.js'
import type { CmHandleLookUp } from '../../processors/trust-level/views.js'
import type { Application } from '../../topology/application.js'
import type { NewRecord } from '../../topology/log/log.js'
import type { Heartbeat } from './heartbeats.js'

export const DOMAIN = 'trust-level'
const LOOK_MS = 5
export const NOTICES_TOPIC = 'ncmp-inventory-events'

/** Reads one handle as an interactive query does. */
export function reader(application: Application): (cmHandle: string) => Promise<CmHandleLookUp> {
  const { cmHandle: query } = trustLevelQueries(application.journal(DOMAIN).topic)
  return async (cmHandle) => {
    const answer = await application.query(DOMAIN, query, cmHandle, { cmHandle })
    if (!answer.ok) throw new Error(`${cmHandle}: ${answer.message}`)
    return answer.result
  }
}

/** Throws unless every handle is read with the level of its heartbeat. */
export async function expectLevels(application: Application, heartbeats: readonly Heartbeat[]): Promise<void> {
  const read = reader(application)
  for (const { cmHandle, trustLevel } of heartbeats) {
    const answer = await read(cmHandle)
    if (!answer.found || answer.handle.trustLevel !== trustLevel) {
      throw new Error(`${cmHandle} reads ${JSON.stringify(answer)}, not ${trustLevel}`)
    }
  }
}

/**
 * Waits until all heartbeats of `timeMs` are folded and readable. A partition is folded in order, so its last one tells of
 * all before.
 */
export async function untilReadable(
  application: Application,
  records: readonly NewRecord[][],
  timeMs: number,
): Promise<void> {
  const waiting = new Set(records.map((some) => some.at(-1)?.key?.toString() ?? ''))
  const read = reader(application)
  await until(async () => {
    for (const cmHandle of waiting) {
      const answer = await read(cmHandle)
      if (answer.found && answer.evidence.lastHeartbeat === timeMs) waiting.delete(cmHandle)
    }
    return waiting.size === 0
  })
}

/** Ends of all partitions of a topic. */
export function ends({ log }: Application, topic: string, partitions: number): Promise<readonly number[]> {
  return Promise.all(
    Array.from({ length: partitions }, async (_, partition) => (await log.offsets({ topic, partition })).end),
  )
}

export async function countNotices(application: Application, partitions: number): Promise<number> {
  return (await ends(application, NOTICES_TOPIC, partitions)).reduce((sum, end) => sum + end, 0)
}

/** Asks until the answer is yes; bounded by the row's own limit. Between two looks it leaves the service time to work. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(LOOK_MS)
}
