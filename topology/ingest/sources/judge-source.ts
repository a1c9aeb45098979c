import type { GroupPosition, LogRecord } from '../../log/log.js'
import { isSame, takenOf } from './taken.js'

/** What is known of a source partition when it is assigned. */
export interface Evidence {
  /** The log's own id of the topic. */
  readonly topicId: string
  /** The incarnation that was registered; undefined: the partition has never been read. */
  readonly registered: string | undefined
  readonly position: GroupPosition | undefined
  readonly start: number
  readonly end: number
  /** The record now at the offset of the last one taken; undefined: there is none, or it was not asked for. */
  readonly lastTaken: LogRecord | undefined
}

/** Where to read from, as which incarnation; or why the source is not read until an operator says so. */
export type Judgement =
  | { readonly kind: 'go'; readonly from: number; readonly incarnation: string }
  | { readonly kind: 'stop'; readonly reason: string }

/**
 * Whether a source partition goes on where it was left. Records of a topic made anew, or restored from an older copy, have
 * offsets that were taken before, so they would be dropped as repeats: that is for an operator to decide.
 */
export function judgeSource(evidence: Evidence): Judgement {
  const { topicId, registered, position, start, end, lastTaken } = evidence
  if (registered === undefined) return { kind: 'go', from: position?.offset ?? start, incarnation: topicId }
  if (topicIdOf(registered) !== topicId) return { kind: 'stop', reason: 'the topic was made anew' }
  const taken = position && takenOf(position)
  if (position === undefined || (taken !== undefined && taken.incarnation !== registered)) {
    return { kind: 'go', from: start, incarnation: registered }
  }
  if (taken !== undefined && end <= taken.offset) {
    return { kind: 'stop', reason: `it ends at offset ${end}, and ${taken.offset} was taken in before` }
  }
  if (taken !== undefined && lastTaken !== undefined && !isSame(taken, lastTaken)) {
    return { kind: 'stop', reason: `it has another record at offset ${taken.offset} than was taken in before` }
  }
  return { kind: 'go', from: position.offset, incarnation: registered }
}

/** The incarnation that an operator starts: of a new topic its id, of the same topic once more a number behind it. */
export function nextIncarnation(topicId: string, registered: string | undefined): string {
  if (registered === undefined || topicIdOf(registered) !== topicId) return topicId
  const [, number = '1'] = registered.split('+')
  return `${topicId}+${Number(number) + 1}`
}

/** The log's own id of the topic that an incarnation is of. */
export function topicIdOf(incarnation: string): string {
  return incarnation.split('+')[0] ?? ''
}
