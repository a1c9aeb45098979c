import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import type { Log } from '../log/log.js'
import type { HistoryPart, HistoryWanted } from './mirror.js'

/** Bytes of one answer, all partitions together, but for a larger single record. */
const MAX_BYTES = 8 * 1024 * 1024
const POLL_MS = 50

/** What this site's journals have of what the other wants; waits up to `waitMs` for something to be there. */
export async function serveHistory(
  { log, clock }: { readonly log: Log; readonly clock: Clock },
  wanted: readonly HistoryWanted[],
  waitMs: number,
  signal: AbortSignal,
): Promise<readonly HistoryPart[]> {
  const until = clock.monotonic() + waitMs
  for (;;) {
    const parts = await readParts(log, wanted)
    const hasSome = parts.some(({ records }) => records.length > 0)
    if (hasSome || clock.monotonic() >= until || signal.aborted) return parts
    await sleep(clock, POLL_MS, signal)
  }
}

async function readParts(log: Log, wanted: readonly HistoryWanted[]): Promise<readonly HistoryPart[]> {
  const incarnations = new Map<string, string>()
  for (const { topic } of wanted) {
    if (!incarnations.has(topic)) incarnations.set(topic, (await log.topic(topic))?.incarnation ?? '')
  }
  const maxBytes = Math.ceil(MAX_BYTES / Math.max(1, wanted.length))
  const known = wanted.filter(({ topic }) => incarnations.get(topic) !== '')
  return Promise.all(
    known.map(async ({ topic, partition, offset }) => {
      const { start, end } = await log.offsets({ topic, partition })
      const incarnation = incarnations.get(topic) ?? ''
      const empty = { topic, partition, incarnation, start, end, next: Math.max(offset, start), records: [] }
      if (offset >= end) return empty
      const batch = await log.read({ topic, partition }, Math.max(offset, start), { maxBytes })
      return { ...empty, next: batch.next, end: batch.end, records: batch.records }
    }),
  )
}
