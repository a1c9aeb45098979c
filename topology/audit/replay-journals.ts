import type { TopicPartition } from '../log/log.js'
import { withFold, journalsOf } from './audit.js'
import type { Audit, AuditScope } from './audit.js'
import { AuditError } from './errors.js'
import type { JournalFold } from './journal-fold.js'
import type { Gap } from './journal-source.js'
import { missingBefore, missingBehind, namedIn, offsetOf } from './moment.js'
import type { Moment } from './moment.js'
import { rowsOfKey } from './rows.js'

/** How far a long audit is: journal records done, of all there are to do. */
export type OnProgress = (done: number, total: number) => void

export interface ReplayRequest extends AuditScope {
  readonly until: Moment
  readonly onProgress?: OnProgress
  /** Each folds one partition at a time. Default: one, in this thread. */
  readonly replayers?: readonly Replayer[]
}

/** A partition to fold anew, up to an offset (exclusive), in words that another thread understands. */
export interface JournalReplay {
  readonly domain: string
  readonly journal: TopicPartition
  readonly end: number
  /** Whose rows are told. */
  readonly keys?: readonly string[] | undefined
}

export type Replayer = (replay: JournalReplay, onProgress: (offset: number) => void) => Promise<ReplayedJournal>

/** What folding a journal partition anew came to. JSON. */
export interface ReplayedJournal {
  readonly domain: string
  readonly store: string
  readonly topic: string
  readonly partition: number
  /** Journal offset at which folding began: 0, or that of a snapshot, which is taken as it was archived. */
  readonly from: number
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

/** Folds journals anew up to a moment: as many partitions at a time as there are replayers. */
export async function replayJournals(audit: Audit, request: ReplayRequest): Promise<readonly ReplayedJournal[]> {
  const journals = await journalsOf(audit, request)
  namedIn(journals, request.until)
  const { reader } = audit.source
  const ends = await Promise.all(journals.map(({ journal }) => offsetOf(reader, journal, request.until)))
  const starts = await Promise.all(journals.map(async ({ journal }) => (await reader.offsets(journal)).start))
  const total = ends.reduce((sum, end, i) => sum + Math.max(0, end - (starts[i] ?? 0)), 0)
  const replayed: ReplayedJournal[] = []
  const { replayers = [replayer(audit)], keys } = request
  const done = journals.map(() => 0)
  const waiting = journals.entries()
  async function replayWaiting(replay: Replayer): Promise<void> {
    for (const [i, { processor, journal }] of waiting) {
      const [start, end] = [starts[i] ?? 0, ends[i] ?? 0]
      const onProgress = (offset: number): void => {
        done[i] = Math.max(0, offset - start)
        request.onProgress?.(
          done.reduce((sum, records) => sum + records, 0),
          total,
        )
      }
      const one = await replay({ domain: processor.name, journal, end, keys }, onProgress)
      const before = one.from === start ? missingBefore(journal, request.until, { ...one, offset: one.from }) : []
      replayed[i] = { ...one, gaps: [...before, ...one.gaps, ...missingBehind(journal, request.until, end)] }
    }
  }
  await Promise.all(replayers.map(replayWaiting))
  return replayed
}

/** Folds in this thread. */
export function replayer(audit: Audit): Replayer {
  return async ({ domain, journal, end, keys }, onProgress) => {
    const processor = audit.processors.find(({ name }) => name === domain)
    if (processor === undefined) throw new AuditError('AUDIT_NOTHING_TO_READ', `there is no domain ${domain}`)
    const from = (await audit.source.logStart?.(journal)) ?? 0
    return withFold(audit, { processor, journal }, from, { onProgress }, async (fold) => {
      await fold.foldTo(end)
      const ofKeys = keys === undefined ? undefined : await keyRows(fold, keys)
      return { ...describe(fold, journal.topic), ...(ofKeys && { keys: ofKeys }) }
    })
  }
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
  const { processor, partition, begunAt: from, offset, entries, digest, gaps, unreadable, folder } = fold
  const { time, epoch, foldVersion } = folder.state
  return {
    domain: processor.name,
    store: processor.store,
    topic,
    partition,
    from,
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
