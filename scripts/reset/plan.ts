import { readdir } from 'node:fs/promises'
import type { Log } from '../../topology/log/log.js'
import { names } from '../../topology/names.js'
import type { Processor } from '../../topology/processor.js'
import { ResetError } from './errors.js'

/** What a reset deletes. */
export interface ResetPlan {
  /** Directories below `stores`. */
  readonly stores: readonly string[]
  readonly changelogs: readonly { readonly topic: string; readonly records: number }[]
  /** Records from which the state is made anew. */
  readonly journalRecords: number
}

/**
 * Looks at all that state is kept in besides the journals. Errors: JOURNAL_INCOMPLETE, where the journals do not reach back to
 * their start, so that the state could not be made anew from them.
 */
export async function planReset(
  log: Log,
  processors: readonly Processor[],
  applicationId: string,
  storesDirectory: string,
): Promise<ResetPlan> {
  const stores = await readdir(storesDirectory).catch(() => [])
  const changelogs: ResetPlan['changelogs'][number][] = []
  let journalRecords = 0
  for (const { name, store } of processors) {
    for (const { at, start, end } of await ranges(log, names.journal(applicationId, name))) {
      if (start > 0) throw new ResetError('JOURNAL_INCOMPLETE', `journal ${at} begins at offset ${start}`)
      journalRecords += end
    }
    const topic = names.changelog(applicationId, store)
    const found = await ranges(log, topic)
    const records = found.reduce((sum, { start, end }) => sum + end - start, 0)
    if (found.length > 0) changelogs.push({ topic, records })
  }
  return { stores, changelogs, journalRecords }
}

interface Range {
  readonly at: string
  readonly start: number
  readonly end: number
}

async function ranges(log: Log, topic: string): Promise<Range[]> {
  const partitions = (await log.topic(topic))?.partitions ?? 0
  return Promise.all(
    Array.from({ length: partitions }, async (_, partition) => {
      return { at: `${topic}/${partition}`, ...(await log.offsets({ topic, partition })) }
    }),
  )
}
