import type { Moment } from '../../topology/audit/moment.js'
import type { Position } from '../../topology/streams.js'

export interface MomentFlags {
  readonly toTime?: number
  readonly toOffset?: number
  readonly position?: readonly Position[]
}

/** Of several flags the most exact counts; none: the end. */
export function momentOf({ toTime, toOffset, position }: MomentFlags): Moment {
  if (position !== undefined) return { kind: 'positions', positions: position }
  if (toOffset !== undefined) return { kind: 'offset', offset: toOffset }
  return toTime === undefined ? { kind: 'end' } : { kind: 'time', time: toTime }
}
