import type { JournalEntry } from '../journal/entry.js'
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

/** Leaves out what came to be after `moment`, by its own time: what is folded then is what was true. */
export function eventsUpTo(
  processor: Processor,
  moment: number,
  from?: Pick<FoldState, 'time' | 'settings'>,
): (record: DecodedRecord) => [FoldableRecord] {
  const timeOf = entryTimes(processor, from)
  return (record) => {
    const { entries, timestamp } = record
    const kept = entries.map((entry) => (timeOf(entry, timestamp) <= moment ? entry : undefined))
    return [{ ...record, entries: kept }]
  }
}
