import { cut } from '../../common/errors.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import type { Folded } from '../task/folder.js'
import type { FoldableRecord } from '../task/segment.js'
import { journalsOf, withFold } from './audit.js'
import type { Audit, AuditedJournal, AuditScope } from './audit.js'
import { AuditError } from './errors.js'
import type { Gap } from './journal-source.js'
import { offsetOf } from './moment.js'
import type { Moment } from './moment.js'
import { changedSettings, knownNames, rewriting } from './other-settings.js'
import { noOwnEntries, noteOwnEntries, OwnEntriesAnew } from './own-entries.js'
import type { SettingValues } from './other-settings.js'
import type { OwnEntries } from './own-entries.js'
import { progressOver } from './progress.js'
import type { OnProgress } from './replay-journals.js'
import { collectSends, sendsMissing } from './send-differences.js'
import type { Send, Sends } from './send-differences.js'
import { transitionDifferences, transitionOf, transitionTotals } from './transitions.js'
import type { Transition, TransitionDifference, TransitionTotals } from './transitions.js'

export interface WhatIfRequest extends AuditScope {
  /** Settings and parameters (members of operators' events) in place of those recorded. */
  readonly set: Readonly<Record<string, unknown>>
  /** Default: each value stands for itself. */
  readonly valuesOf?: SettingValues
  /** Compared from here on; what lies before is folded under the changed settings too. */
  readonly from?: number
  readonly until: Moment
  readonly onProgress?: OnProgress
}

/** What other settings would have made of the same journals. JSON. */
export interface WhatIf {
  /** `before`: of a setting what is in force at the end, of a parameter all that was recorded. */
  readonly settings: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>
  readonly totals: readonly TransitionTotals[]
  /** In order of time. */
  readonly differences: readonly TransitionDifference[]
  /** What bounds the comparison: the outside and other partitions answer as recorded. */
  readonly limits: {
    /** Where folding began at a snapshot: what was made of the journal before is as recorded. */
    readonly snapshots: readonly { readonly domain: string; readonly partition: number; readonly offset: number }[]
    /** Timers that fired, and outputs that the log took, only under the changed settings. */
    readonly timersAdded: number
    readonly acknowledgementsAdded: number
    /** Recorded acknowledgements of outputs that were not made: they were left out. */
    readonly acknowledgementsDropped: number
    /** Effects asked for of which the journal has no result: none came. */
    readonly requestsUnanswered: number
    /** Answers about inputs taken in that the journal has not: as late as the one recorded last. */
    readonly intakesAdded: number
    /**
     * Events to other journal partitions that folds make only as recorded, and only under the changed settings: the former were
     * folded where they were sent to, the latter were not. Empty: it makes no difference.
     */
    readonly sendsFoldedThough: readonly Send[]
    readonly sendsNotFolded: readonly Send[]
  }
  readonly gaps: readonly Gap[]
  readonly unreadable: readonly string[]
}

interface Run {
  readonly transitions: Transition[]
  readonly gaps: readonly Gap[]
  readonly unreadable: readonly string[]
  readonly sends: Sends
  readonly unanswered: number
  readonly own: OwnEntriesAnew
  /** Values recorded of the parameters that are set, by name. */
  readonly parameters: ReadonlyMap<string, ReadonlySet<unknown>>
  readonly begunAt: number
  /** In force at the end; of parameters all values recorded. */
  readonly settings: Readonly<Record<string, unknown>>
}

/**
 * Folds journals twice, as recorded and under other settings, and compares what they make for the outside. Errors:
 * AUDIT_SETTING_UNKNOWN, AUDIT_SETTING_INVALID, and those of `valuesOf`.
 */
export async function whatIf(audit: Audit, request: WhatIfRequest): Promise<WhatIf> {
  const all = await journalsOf(audit, request)
  const names = Object.keys(request.set)
  const journals = all.filter(({ processor }) => names.every((name) => knownNames(processor).includes(name)))
  if (journals.length === 0) {
    const known = [...new Set(all.flatMap(({ processor }) => knownNames(processor)))].join(', ')
    throw new AuditError('AUDIT_SETTING_UNKNOWN', `no domain reads all of ${cut(names.join(', '))}; there are ${known}`)
  }
  const ends = await Promise.all(journals.map(({ journal }) => offsetOf(audit.source.reader, journal, request.until)))
  const progress = progressOver(
    ends.flatMap((end) => [end, end]),
    request.onProgress,
  )
  const runs: { readonly before: Run; readonly after: Run }[] = []
  for (const audited of journals) {
    const recorded = noOwnEntries()
    const before = await run(audit, audited, request, recorded, false, progress.part())
    const after = await run(audit, audited, request, recorded, true, progress.part())
    runs.push({ before, after })
  }
  const transitions = (side: 'before' | 'after'): readonly Transition[] => runs.flatMap((one) => one[side].transitions)
  const sum = (of: (one: (typeof runs)[number]) => number): number => runs.reduce((total, one) => total + of(one), 0)
  const differences = transitionDifferences(transitions('before'), transitions('after'))
  const inForce = runs[0]?.before.settings ?? {}
  const recorded = (name: string): unknown => {
    const values = new Set(runs.flatMap(({ after }) => [...(after.parameters.get(name) ?? [])]))
    return name in inForce ? inForce[name] : [...values]
  }
  return {
    settings: Object.fromEntries(names.map((name) => [name, { before: recorded(name), after: request.set[name] }])),
    totals: transitionTotals(transitions('before'), transitions('after'), differences),
    differences,
    limits: {
      snapshots: journals.flatMap(({ processor, journal: { partition } }, i) => {
        const offset = runs[i]?.after.begunAt ?? 0
        return offset === 0 ? [] : [{ domain: processor.name, partition, offset }]
      }),
      timersAdded: sum(({ after }) => after.own.added.timers),
      acknowledgementsAdded: sum(({ after }) => after.own.added.acknowledgements),
      acknowledgementsDropped: sum(({ after }) => after.own.dropped),
      requestsUnanswered: sum(({ after, before }) => Math.max(0, after.unanswered - before.unanswered)),
      intakesAdded: sum(({ after }) => after.own.added.intakes),
      sendsFoldedThough: runs.flatMap(({ before, after }) => sendsMissing(before.sends, after.sends)),
      sendsNotFolded: runs.flatMap(({ before, after }) => sendsMissing(after.sends, before.sends)),
    },
    gaps: runs.flatMap(({ before }) => before.gaps),
    unreadable: runs.flatMap(({ before }) => before.unreadable),
  }
}

/** One fold: as recorded, which notes the acknowledgements, or under the changed settings. */
async function run(
  audit: Audit,
  audited: AuditedJournal,
  { set, valuesOf = (_processor, _inForce, values) => values, from = 0, until }: WhatIfRequest,
  recorded: OwnEntries,
  isChanged: boolean,
  onProgress: (offset: number) => void,
): Promise<Run> {
  const own = new OwnEntriesAnew(recorded, audited.processor)
  const transitions: Transition[] = []
  const { processor } = audited
  const { sends, take } = collectSends(audited)
  const inTerm = (settings: object): object => changedSettings(processor, settings, set, valuesOf)
  let unanswered = 0
  let onFolded: (folded: Folded) => void = () => undefined
  let rewrite: (record: DecodedRecord) => Iterable<FoldableRecord> = (record) => [record]
  const observers = {
    onFolded: (folded: Folded) => onFolded(folded),
    onProgress,
    ...(isChanged && { rewrite: (record: DecodedRecord) => rewrite(record), segmentEntries: 1 }),
  }
  return withFold(audit, audited, 0, observers, async (fold) => {
    const { state } = fold.folder
    onFolded = (folded) => {
      if (isChanged) own.folded(folded, state)
      else noteOwnEntries(folded, recorded)
      // What a term refuses is refused before everything is folded.
      if (!isChanged && folded.entry.kind === 'owner') inTerm(JSON.parse(folded.entry.settings) as object)
      take(folded, state.time)
      for (const consequence of folded.consequences) {
        if (consequence.kind === 'request') unanswered++
        else if (consequence.kind === 'settled') unanswered--
        const transition = state.time < from ? undefined : transitionOf(consequence, state.time)
        if (transition !== undefined) transitions.push(transition)
      }
    }
    const { rewritten, parameters } = rewriting(processor, set, valuesOf)
    rewrite = (record) => own.before(rewritten(record), state)
    if (state.settings !== null) {
      const changed = inTerm(state.settings as object)
      if (isChanged) state.settings = changed
    }
    await fold.foldTo(await offsetOf(audit.source.reader, audited.journal, until))
    const settings = state.settings as Run['settings']
    const { begunAt, unreadable } = fold
    const gaps = await fold.gapsAt(until)
    return {
      transitions,
      gaps,
      unreadable: unreadable.map(({ message }) => message),
      sends,
      unanswered,
      own,
      parameters,
      begunAt,
      settings,
    }
  })
}
