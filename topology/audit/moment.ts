import type { TopicPartition } from '../log/log.js'
import type { Position } from '../streams.js'
import type { JournalReader } from './journal-source.js'

/** Up to where an audit looks. */
export type Moment =
  | { readonly kind: 'end' }
  /** All that the log had stamped by then, ms. */
  | { readonly kind: 'time'; readonly time: number }
  /** Exclusive: the next record is the first not folded. */
  | { readonly kind: 'offset'; readonly offset: number }
  /** As answers carry them: the record at the position is folded. Partitions not named: to the end. */
  | { readonly kind: 'positions'; readonly positions: readonly Position[] }

/** The journal offset (exclusive) that a moment means; never beyond the journal's end. */
export async function offsetOf(reader: JournalReader, journal: TopicPartition, moment: Moment): Promise<number> {
  const { end } = await reader.offsets(journal)
  switch (moment.kind) {
    case 'end':
      return end
    case 'time':
      return reader.offsetForTime(journal, moment.time + 1)
    case 'offset':
      return Math.min(end, moment.offset)
    case 'positions': {
      const { topic, partition } = journal
      const named = moment.positions.find((position) => position.topic === topic && position.partition === partition)
      return named === undefined ? end : Math.min(end, named.offset + 1)
    }
  }
}
