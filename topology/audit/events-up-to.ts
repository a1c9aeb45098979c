import type { JournalEntry, OwnerEntry } from '../journal/entry.js'
import type { DecodedRecord } from '../journal/readable-records.js'
import type { Processor } from '../processor.js'
import type { FoldState } from '../task/folder.js'
import type { FoldableRecord } from '../task/segment.js'

/** The time of an entry: of a timer when it was due, of an event its own, of all else when the log stamped it. */
export type EntryTime = (entry: JournalEntry, timestamp: number) => number

/** Times of a journal's entries; to be asked in the order of the journal, since settings and journal time go into it. */
export function entryTimes(processor: Processor, from?: Pick<FoldState, 'time' | 'settings'>): EntryTime {
  let time = from?.time ?? 0
  let settings = from?.settings ?? processor.settings
  return (entry, timestamp) => {
    time = Math.max(time, timestamp)
    if (entry.kind === 'timer') return entry.due
    if (entry.kind === 'event') return processor.eventTime?.(entry.event, { time, settings }) ?? timestamp
    settings = JSON.parse(entry.settings) as unknown
    return timestamp
  }
}

/**
 * Leaves out what came to be after `moment`, by its own time: what is folded then is what was true. `onLoaded` is told of a term left
 * out that begins with what was loaded: that may be of a time before.
 */
export function eventsUpTo(
  processor: Processor,
  moment: number,
  from: Pick<FoldState, 'time' | 'settings'>,
  onLoaded: (term: OwnerEntry, offset: number) => void,
): (record: DecodedRecord) => [FoldableRecord] {
  const timeOf = entryTimes(processor, from)
  return (record) => {
    const { entries, timestamp, offset } = record
    const kept = entries.map((entry) => {
      if (timeOf(entry, timestamp) <= moment) return entry
      if (entry.kind === 'owner' && entry.preloaded) onLoaded(entry, offset)
      return undefined
    })
    return [{ ...record, entries: kept }]
  }
}
