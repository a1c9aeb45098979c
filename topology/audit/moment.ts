import type { TopicPartition } from '../log/log.js'
import type { Position } from '../streams.js'
import { AuditError } from './errors.js'
import type { Gap, JournalReader } from './journal-source.js'

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
      const named = positionIn(journal, moment)
      return named === undefined ? end : Math.min(end, named.offset + 1)
    }
  }
}

/** What a journal that ends at `end` lacks of what a position names: it was longer when an answer carried that. */
export function missingBehind(journal: TopicPartition, moment: Moment, end: number): readonly Gap[] {
  const named = positionIn(journal, moment)
  if (named === undefined || named.offset < end) return []
  return [{ topic: journal.topic, partition: journal.partition, from: end, to: named.offset + 1 }]
}

/** What a state lacks that begins at a snapshot behind the moment asked for, with none before it: it cannot be taken back. */
export function missingBefore(
  { topic, partition }: TopicPartition,
  moment: Moment,
  begun: { readonly offset: number; readonly time: number },
): readonly Gap[] {
  const named = positionIn({ topic, partition }, moment)
  const isBehind =
    (moment.kind === 'time' && moment.time < begun.time) ||
    (moment.kind === 'offset' && moment.offset < begun.offset) ||
    (named !== undefined && named.offset + 1 < begun.offset)
  return isBehind && begun.offset > 0 ? [{ topic, partition, from: 0, to: begun.offset }] : []
}

/** Those of some journals that positions name; all, where the moment is none of positions. Errors: AUDIT_MOMENT_INVALID: none is. */
export function namedIn<Journal extends { readonly journal: TopicPartition }>(
  journals: readonly Journal[],
  moment: Moment,
): readonly Journal[] {
  if (moment.kind !== 'positions') return journals
  const named = journals.filter(({ journal }) => positionIn(journal, moment) !== undefined)
  if (named.length > 0) return named
  const asked = journals.map(({ journal: { topic, partition } }) => `${topic}/${partition}`).join(', ')
  throw new AuditError('AUDIT_MOMENT_INVALID', `the positions are of none of the journals that are asked: ${asked}`)
}

function positionIn({ topic, partition }: TopicPartition, moment: Moment): Position | undefined {
  if (moment.kind !== 'positions') return undefined
  return moment.positions.find((position) => position.topic === topic && position.partition === partition)
}
