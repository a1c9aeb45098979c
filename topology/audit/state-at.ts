import type { OwnerEntry } from '../journal/entry.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import { names } from '../names.js'
import type { Query } from '../processor.js'
import { queryReader } from '../task/query-reader.js'
import { scanRows } from '../task/row-scan.js'
import type { FoldableRecord } from '../task/segment.js'
import { journalsOf, withFold } from './audit.js'
import type { Audit, AuditedJournal, AuditScope } from './audit.js'
import { AuditError } from './errors.js'
import { eventsUpTo } from './events-up-to.js'
import type { FoldWork, JournalFold } from './journal-fold.js'
import type { Gap } from './journal-source.js'
import { namedIn, offsetOf } from './moment.js'
import type { Moment } from './moment.js'
import { progressOver } from './progress.js'
import type { OnProgress } from './replay-journals.js'
import { stateOf } from './rows.js'
import { newestSealBy } from './seals.js'
import type { StampedSeal } from './seals.js'

/** What is asked of a state: about one subject, a query of the domain, or all rows. */
export type Question =
  | { readonly kind: 'subject'; readonly subject: string }
  | { readonly kind: 'query'; readonly name: string; readonly args: unknown }
  | { readonly kind: 'all' }

export interface StateRequest extends Pick<AuditScope, 'domains'> {
  readonly question: Question
  readonly at: Moment
  readonly onProgress?: OnProgress
}

/** What a partition's state says, as of a fold. JSON. */
export interface PartitionState {
  readonly domain: string
  readonly partition: number
  /** Journal offset (exclusive) up to which it was folded. */
  readonly offset: number
  readonly folded: FoldWork
  readonly result: unknown
  readonly gaps: readonly Gap[]
  readonly unreadable: readonly string[]
}

/** Two truths of a moment. JSON. */
export interface StateAt {
  /**
   * What was true at the moment, of a time only: the whole journal folded without events whose own time, and timers whose
   * due time, is after it.
   */
  readonly wasTrue: readonly PartitionState[] | null
  /** What we answered then: as of the newest position sealed by then; of a position: exactly. */
  readonly weAnswered: readonly (PartitionState & {
    /** Absent: no seal is left of that time, so it is all that the log had stamped by then. */
    readonly seal?: StampedSeal
  })[]
}

/** The state at a moment. Errors: AUDIT_NOTHING_TO_READ, AUDIT_QUERY_UNKNOWN. */
export async function stateAt(audit: Audit, { question, at, domains, onProgress }: StateRequest): Promise<StateAt> {
  const keys = question.kind === 'subject' ? [question.subject] : undefined
  const journals = namedIn(await journalsOf(audit, { domains, keys }), at)
  const weAnswered = []
  const wasTrue = []
  const ends = await Promise.all(journals.map(async ({ journal }) => (await audit.source.reader.offsets(journal)).end))
  const progress = progressOver(
    ends.flatMap((end) => (at.kind === 'time' ? [end, end] : [end])),
    onProgress,
  )
  for (const audited of journals) {
    weAnswered.push(await answeredState(audit, audited, question, at, progress.part()))
    if (at.kind === 'time') wasTrue.push(await trueState(audit, audited, question, at.time, progress.part()))
  }
  return { wasTrue: at.kind === 'time' ? wasTrue : null, weAnswered }
}

async function answeredState(
  audit: Audit,
  audited: AuditedJournal,
  question: Question,
  at: Moment,
  onProgress: (offset: number) => void,
): Promise<StateAt['weAnswered'][number]> {
  const { processor, journal } = audited
  const digests = { topic: names.digests(audit.applicationId, processor.store), partition: journal.partition }
  const seal = at.kind === 'time' ? await newestSealBy(audit.source.reader, digests, at.time) : undefined
  const to = seal?.offset ?? (await offsetOf(audit.source.reader, journal, at))
  const state = await withFold(audit, audited, to, { onProgress }, async (fold) => {
    await fold.foldTo(to)
    return partitionState(fold, question, at)
  })
  return { ...state, ...(seal && { seal }) }
}

async function trueState(
  audit: Audit,
  audited: AuditedJournal,
  question: Question,
  time: number,
  onProgress: (offset: number) => void,
): Promise<PartitionState> {
  const { processor, journal } = audited
  const { source } = audit
  const { end } = await source.reader.offsets(journal)
  const known = (await source.parts?.(journal)) ?? []
  const firstAfter = known.find((part) => part.mostTime > time)
  let rewriteOf: (record: DecodedRecord) => [FoldableRecord] = (record) => [record]
  const rewrite: typeof rewriteOf = (record) => rewriteOf(record)
  return withFold(audit, audited, firstAfter?.from ?? end, { rewrite, onProgress }, async (fold) => {
    const loadedLater: [OwnerEntry, number][] = []
    rewriteOf = eventsUpTo(processor, time, fold.folder.state, (...loaded) => loadedLater.push(loaded))
    for (const part of known) {
      if (part.leastTime <= time) continue
      await fold.foldTo(part.from)
      fold.skipTo(part.to)
    }
    await fold.foldTo(end)
    for (const loaded of loadedLater) await fold.noteLoaded(...loaded)
    return partitionState(fold, question, { kind: 'end' }, { kind: 'time', time })
  })
}

async function partitionState(
  fold: JournalFold,
  question: Question,
  until: Moment,
  asked = until,
): Promise<PartitionState> {
  const { processor, partition, offset, work: folded, unreadable } = fold
  const result = await answer(fold, question)
  const gaps = await fold.gapsAt(until, asked)
  return {
    domain: processor.name,
    partition,
    offset,
    folded,
    result,
    gaps,
    unreadable: unreadable.map((one) => one.message),
  }
}

async function answer(fold: JournalFold, question: Question): Promise<unknown> {
  switch (question.kind) {
    case 'subject':
      return stateOf(fold, question.subject)
    case 'query': {
      const { rows, partition, processor } = fold
      const foldState = fold.folder.state
      const source = { rows, partition, foldState, journalTime: foldState.time, memory: processor.memory?.() }
      return queryOf(fold, question.name).run(queryReader(source), question.args)
    }
    case 'all':
      return allRows(fold)
  }
}

function queryOf({ processor }: JournalFold, name: string): Query {
  const found = processor.queries.find((query) => query.name === name)
  if (found !== undefined) return found
  const known = processor.queries.map((query) => query.name).join(', ')
  throw new AuditError('AUDIT_QUERY_UNKNOWN', `${processor.name} has the queries ${known}`)
}

async function allRows({ rows, processor }: JournalFold): Promise<unknown[]> {
  const found: unknown[] = []
  for (const table of processor.tables) {
    for await (const page of scanRows(rows, rows.state(table), {})) {
      for (const [key, row] of page) found.push({ table: table.name, key, row })
    }
  }
  return found
}
