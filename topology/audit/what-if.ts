import { cut } from '../../common/errors.js'
import { blockCodec } from '../journal/block-codec.js'
import { readableRecords } from '../journal/readable-records.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import type { Processor } from '../processor.js'
import type { Folded } from '../task/folder.js'
import type { FoldableRecord } from '../task/segment.js'
import { journalsOf, withFold } from './audit.js'
import type { Audit, AuditedJournal, AuditScope } from './audit.js'
import { AuditError } from './errors.js'
import type { Gap } from './journal-source.js'
import { MissingTimers, recordedTimers } from './missing-timers.js'
import { offsetOf } from './moment.js'
import type { Moment } from './moment.js'
import type { OnProgress } from './replay-journals.js'
import { transitionDifferences, transitionOf, transitionTotals } from './transitions.js'
import type { Transition, TransitionDifference, TransitionTotals } from './transitions.js'

export interface WhatIfRequest extends AuditScope {
  /** Settings in place of those recorded. */
  readonly set: Readonly<Record<string, unknown>>
  /** Compared from here on; what lies before is folded under the changed settings too. */
  readonly from?: number
  readonly until: Moment
  readonly onProgress?: OnProgress
}

/** What other settings would have made of the same journals. JSON. */
export interface WhatIf {
  readonly settings: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>
  readonly totals: readonly TransitionTotals[]
  /** In order of time. */
  readonly differences: readonly TransitionDifference[]
  /** What bounds the comparison: the outside and other partitions answer as recorded. */
  readonly limits: {
    /** Timers that fired only under the changed settings. */
    readonly timersAdded: number
    /** Effects asked for of which the journal has no result: none came. */
    readonly requestsUnanswered: number
    /** Events that folds send to journals differ in number from those recorded, which are what was folded. */
    readonly sentBefore: number
    readonly sentAfter: number
  }
  readonly gaps: readonly Gap[]
}

interface Run {
  readonly transitions: Transition[]
  readonly gaps: readonly Gap[]
  readonly sent: number
  readonly unanswered: number
  readonly timersAdded: number
  /** In force at the end. */
  readonly settings: Readonly<Record<string, unknown>>
}

/**
 * Folds journals twice, as recorded and under other settings, and compares what they make for the outside. Errors:
 * AUDIT_SETTING_UNKNOWN.
 */
export async function whatIf(audit: Audit, request: WhatIfRequest): Promise<WhatIf> {
  const all = await journalsOf(audit, request)
  const names = Object.keys(request.set)
  const journals = all.filter(({ processor }) => names.every((name) => name in settingsOf(processor)))
  if (journals.length === 0) {
    const known = [...new Set(all.flatMap(({ processor }) => Object.keys(settingsOf(processor))))].join(', ')
    throw new AuditError('AUDIT_SETTING_UNKNOWN', `no domain reads all of ${cut(names.join(', '))}; there are ${known}`)
  }
  const runs: { readonly before: Run; readonly after: Run }[] = []
  for (const [i, audited] of journals.entries()) {
    const before = await run(audit, audited, request, undefined)
    const after = await run(audit, audited, request, await recordedTimersOf(audit, audited))
    runs.push({ before, after })
    request.onProgress?.(i + 1, journals.length)
  }
  const transitions = (side: 'before' | 'after'): readonly Transition[] => runs.flatMap((one) => one[side].transitions)
  const sum = (of: (one: (typeof runs)[number]) => number): number => runs.reduce((total, one) => total + of(one), 0)
  const differences = transitionDifferences(transitions('before'), transitions('after'))
  const recorded = runs[0]?.before.settings ?? {}
  return {
    settings: Object.fromEntries(names.map((name) => [name, { before: recorded[name], after: request.set[name] }])),
    totals: transitionTotals(transitions('before'), transitions('after'), differences),
    differences,
    limits: {
      timersAdded: sum(({ after }) => after.timersAdded),
      requestsUnanswered: sum(({ after, before }) => Math.max(0, after.unanswered - before.unanswered)),
      sentBefore: sum(({ before }) => before.sent),
      sentAfter: sum(({ after }) => after.sent),
    },
    gaps: runs.flatMap(({ before }) => before.gaps),
  }
}

/** One fold; with `recorded`, the deadlines that the journal has timers of, under the changed settings. */
async function run(
  audit: Audit,
  audited: AuditedJournal,
  { set, from = 0, until }: WhatIfRequest,
  recorded: ReadonlySet<string> | undefined,
): Promise<Run> {
  const timers = new MissingTimers(recorded ?? new Set())
  const transitions: Transition[] = []
  let sent = 0
  let unanswered = 0
  let onFolded: (folded: Folded) => void = () => undefined
  let rewrite: (record: DecodedRecord) => Iterable<FoldableRecord> = (record) => [record]
  const observers = {
    onFolded: (folded: Folded) => onFolded(folded),
    ...(recorded !== undefined && { rewrite: (record: DecodedRecord) => rewrite(record), segmentEntries: 1 }),
  }
  return withFold(audit, audited, 0, observers, async (fold) => {
    const { state } = fold.folder
    onFolded = (folded) => {
      timers.folded(folded)
      for (const consequence of folded.consequences) {
        if (consequence.kind === 'send') sent++
        else if (consequence.kind === 'request') unanswered++
        else if (consequence.kind === 'settled') unanswered--
        const transition = state.time < from ? undefined : transitionOf(consequence, state.time)
        if (transition !== undefined) transitions.push(transition)
      }
    }
    rewrite = (record) => timers.before(withSettings(record, set), state)
    await fold.foldTo(await offsetOf(audit.source.reader, audited.journal, until))
    return {
      transitions,
      gaps: fold.gaps,
      sent,
      unanswered,
      timersAdded: timers.fired,
      settings: state.settings as Run['settings'],
    }
  })
}

function withSettings(record: DecodedRecord, set: WhatIfRequest['set']): DecodedRecord {
  const entries = record.entries.map((entry) => {
    if (entry.kind !== 'owner') return entry
    const recorded = JSON.parse(entry.settings) as Record<string, unknown>
    return { ...entry, settings: JSON.stringify({ ...recorded, ...set }) }
  })
  return { ...record, entries }
}

async function recordedTimersOf(audit: Audit, { processor, journal }: AuditedJournal): Promise<ReadonlySet<string>> {
  const { reader } = audit.source
  const codec = blockCodec(processor.events)
  const { start, end } = await reader.offsets(journal)
  const recorded = new Set<string>()
  for (let offset = start; offset < end;) {
    const { records, next } = await reader.read(journal, offset)
    recordedTimers(
      readableRecords(codec, journal, records, () => undefined),
      recorded,
    )
    if (next <= offset) break
    offset = next
  }
  return recorded
}

function settingsOf({ settings }: Processor): Readonly<Record<string, unknown>> {
  return settings as Readonly<Record<string, unknown>>
}
