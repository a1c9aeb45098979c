import type { JournalEntry } from '../journal/entry.js'
import type { TopicPartition } from '../log/log.js'
import type { Processor } from '../processor.js'
import type { Folded, FoldState, Rule } from '../task/folder.js'
import type { SettingsChange } from '../task/settings-change.js'
import { entryTimes } from './events-up-to.js'
import type { JournalFold } from './journal-fold.js'
import { rowName } from './rows.js'
import type { WatchedRows } from './watched-rows.js'

/** An owner's term: the settings and the code that folds ran with. */
export interface Term {
  /** Journal offset from which it was in force, as far as looked. */
  readonly since: number
  readonly epoch: number
  readonly foldVersion: number
  readonly settings: unknown
  /** null: its announcement stands before what was looked at. */
  readonly instance: string | null
  /** What brought these settings: this term's owner, or one before it; null: not known. */
  readonly settingsChange: SettingsChange | null
}

/** A journal entry that had to do with a subject. */
export interface Step extends TopicPartition {
  readonly offset: number
  readonly index: number
  /** When the log stamped it, and its own time, ms. */
  readonly timestamp: number
  readonly time: number
  /** Type of the event, or `timer`. */
  readonly what: string
  readonly data: unknown
  /** Where it came from: position in an input topic, process that took it over HTTP, or journal position of a fold. */
  readonly source: JournalEntry['source']
  /** As the event or its original names it (`ce_source`), where that is still there. */
  readonly producer?: string
  readonly actor?: string
  readonly reason?: string
  readonly commandId?: string
  readonly outcome: Folded['outcome']
  readonly rules: readonly Rule[]
  readonly changes: readonly { readonly row: string; readonly before: unknown; readonly after: unknown }[]
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
  /** Of the term in force. */
  readonly epoch: number
}

export interface StepCollector {
  /** Oldest first; at least the newest `limit`. */
  readonly steps: readonly Step[]
  /** The newest of all, also when it is left out of `steps`. */
  readonly newest: Step | undefined
  /** Steps that changed nothing of the state in short. */
  readonly leftOut: number
  readonly terms: readonly Term[]
  /** Older steps than these were dropped. */
  readonly hasDropped: boolean
  readonly take: (folded: Folded) => void
}

/** Collects what a fold does to a subject, from where the fold stands on. */
export function collectSteps(
  fold: JournalFold,
  journal: TopicPartition,
  watched: WatchedRows,
  { limit, every }: { readonly limit: number; readonly every: boolean },
): StepCollector {
  const { processor, folder, offset: since } = fold
  const { epoch } = folder.state
  const timeOf = entryTimes(processor, folder.state)
  const steps: Step[] = []
  const terms: Term[] = epoch === 0 ? [] : [termAt(since, null, folder.state)]
  let hasDropped = false
  let newest: Step | undefined
  let leftOut = 0

  function takeOwner(instance: string, offset: number): void {
    if (folder.state.epoch !== terms.at(-1)?.epoch) terms.push(termAt(offset, instance, folder.state))
  }

  function take({ entry, position, timestamp, outcome, rules, changes }: Folded): void {
    const time = timeOf(entry, timestamp)
    if (entry.kind === 'owner') {
      takeOwner(entry.instance, position.offset)
      return
    }
    if (!watched.isWatched(changes) && !isAbout(processor, entry, watched.subject)) return
    const before = watched.state
    const own = watched.take(changes).map(({ table, key, ...rows }) => ({ row: rowName(table, key), ...rows }))
    const why = { outcome, rules, changes: own, before, after: watched.state, epoch: folder.state.epoch }
    newest = { ...journal, ...position, timestamp, time, ...originOf(entry), ...why }
    if (!every && processor.subjects !== undefined && JSON.stringify(before) === JSON.stringify(newest.after)) {
      leftOut++
      return
    }
    steps.push(newest)
    if (steps.length <= 2 * limit) return
    steps.splice(0, limit)
    hasDropped = true
  }

  return {
    steps,
    terms,
    get hasDropped() {
      return hasDropped
    },
    get newest() {
      return newest
    },
    get leftOut() {
      return leftOut
    },
    take,
  }
}

function termAt(since: number, instance: string | null, state: FoldState): Term {
  const { epoch, foldVersion, settings, settingsChange } = state
  return { since, epoch, foldVersion, settings, instance, settingsChange: settingsChange ?? null }
}

/** Whether an entry asks for the subject's rows, though it may change nothing of them. */
function isAbout(processor: Processor, entry: JournalEntry, subject: string): boolean {
  try {
    if (entry.kind === 'owner') return false
    const { rows } = entry.kind === 'event' ? processor.reads(entry.event) : processor.readsOfDeadline(entry)
    return rows.some(({ key }) => key === subject)
  } catch {
    return false
  }
}

function originOf(
  entry: JournalEntry,
): Pick<Step, 'what' | 'data' | 'source' | 'producer' | 'actor' | 'reason' | 'commandId'> {
  const { source } = entry
  if (entry.kind === 'timer') return { what: 'timer', data: { due: entry.due, id: entry.id }, source }
  if (entry.kind === 'owner') return { what: 'owner', data: {}, source }
  const { event, actor, reason, commandId, original } = entry
  const told = 'producer' in event.data ? event.data.producer : undefined
  const named = original?.headers.find(([name]) => name === 'ce_source')?.[1].toString()
  const producer = named ?? (typeof told === 'string' && told !== '' ? told : undefined)
  return {
    what: event.type,
    data: event.data,
    source,
    ...(producer !== undefined && { producer }),
    ...(actor !== undefined && { actor }),
    ...(reason !== undefined && { reason }),
    ...(commandId !== undefined && { commandId }),
  }
}
