import { withFold, journalsOf } from './audit.js'
import type { Audit, AuditScope } from './audit.js'
import type { JournalFold } from './journal-fold.js'
import type { Gap } from './journal-source.js'
import { offsetOf } from './moment.js'
import type { Moment } from './moment.js'
import { rowsOfKey } from './rows.js'

/** How far a long audit is: journal records done, of all there are to do. */
export type OnProgress = (done: number, total: number) => void

export interface ReplayRequest extends AuditScope {
  readonly until: Moment
  readonly onProgress?: OnProgress
}

/** What folding a journal partition anew came to. JSON. */
export interface ReplayedJournal {
  readonly domain: string
  readonly store: string
  readonly topic: string
  readonly partition: number
  /** Journal offset that the state stands for (exclusive), and its journal time, ms. */
  readonly offset: number
  readonly time: number
  readonly epoch: number
  /** Of the newest owner's record; another than this build's folds otherwise. */
  readonly foldVersion: number
  readonly entries: number
  readonly digest: string
  readonly digestWithoutPositions: string
  readonly gaps: readonly Gap[]
  /** Records that are no blocks of entries: skipped, as the task has skipped them. */
  readonly unreadable: readonly string[]
  /** Rows of the keys asked for. */
  readonly keys?: Readonly<Record<string, unknown>>
}

/** Folds journals anew up to a moment, one partition after the other. */
export async function replayJournals(audit: Audit, request: ReplayRequest): Promise<readonly ReplayedJournal[]> {
  const journals = await journalsOf(audit, request)
  const { reader } = audit.source
  const ends = await Promise.all(journals.map(({ journal }) => offsetOf(reader, journal, request.until)))
  const starts = await Promise.all(journals.map(async ({ journal }) => (await reader.offsets(journal)).start))
  const total = ends.reduce((sum, end, i) => sum + Math.max(0, end - (starts[i] ?? 0)), 0)
  const replayed: ReplayedJournal[] = []
  let done = 0
  for (const [i, audited] of journals.entries()) {
    const [start, end] = [starts[i] ?? 0, ends[i] ?? 0]
    const onProgress = (offset: number): void => request.onProgress?.(done + Math.max(0, offset - start), total)
    const one = await withFold(audit, audited, 0, { onProgress }, async (fold) => {
      await fold.foldTo(end)
      const ofKeys = request.keys === undefined ? undefined : await keyRows(fold, request.keys)
      return { ...describe(fold, audited.journal.topic), ...(ofKeys && { keys: ofKeys }) }
    })
    done += Math.max(0, end - start)
    replayed.push(one)
  }
  return replayed
}

async function keyRows(fold: JournalFold, keys: readonly string[]): Promise<Record<string, unknown>> {
  const rows: [string, unknown][] = []
  for (const key of keys) {
    const found = await rowsOfKey(fold, key)
    if (Object.keys(found).length > 0) rows.push([key, found])
  }
  return Object.fromEntries(rows)
}

function describe(fold: JournalFold, topic: string): Omit<ReplayedJournal, 'keys'> {
  const { processor, partition, offset, entries, digest, gaps, unreadable, folder } = fold
  const { time, epoch, foldVersion } = folder.state
  return {
    domain: processor.name,
    store: processor.store,
    topic,
    partition,
    offset,
    time,
    epoch,
    foldVersion,
    entries,
    digest: digest.rows.toHex(),
    digestWithoutPositions: digest.withoutPositions.toHex(),
    gaps,
    unreadable: unreadable.map(({ message }) => message),
  }
}
