import type { FoldContext } from '../../topology/processor.js'
import { keyOf, rics } from './tables.js'
import type { Requested, RicRow } from './tables.js'
import type { KeepAliveSettings } from './settings.js'

export type Context = FoldContext<KeepAliveSettings>

/** Counters of the fold; the part after `:` in metrics is the label. */
export const counters = {
  ticks: 'Keep-alive requests that were due',
  fresh_starts: 'Times the count of silence began afresh: a new term, or a gap in the requests sent; by cause',
  answers: 'Keep-alive answers of known instances',
  unknown_answers: 'Keep-alive answers of addresses that are not known, or have not been registered yet',
  late_answers: 'Keep-alive answers of instances to be deleted: they change nothing',
  instance_moves: 'Moves of E2T instances, by reason',
  ran_moves: 'Moves of RANs, by reason',
  repeated_messages: 'Inits and lost connections delivered twice: they change nothing',
  ignored_inits: 'Inits of instances to be deleted or registering: they change nothing, by state',
  setups: 'E2 setups answered, by outcome',
  unanswered_setups: 'E2 setups of instances that are not active: they get no answer',
  unknown_rans: 'Messages about RANs that are not known, by kind',
  routing_manager_calls: 'Calls of the Routing Manager that came to an end, by purpose and outcome',
  withdrawn_calls: 'Calls owed to the Routing Manager that a later one on the same made needless',
  pods: 'Ends of pod deletions, by outcome',
} as const

const NEW_RIC: RicRow = {
  enableRic: true,
  addresses: [],
  tick: 0,
  tickDue: 0,
  sentEpoch: 0,
  sentTick: 0,
  freshAt: 0,
  requests: [],
  redButtonDue: 0,
}

/** A RIC is there as soon as it is named. */
export function ricOf(context: Context, ric: string): RicRow {
  return context.get(rics, ric) ?? NEW_RIC
}

export function changeRic(context: Context, ric: string, change: Partial<RicRow>): void {
  context.put(rics, ric, { ...ricOf(context, ric), ...change })
}

/** Unique in its partition, and the same in a replay; `name` is unique in the fold that asks. */
export function effectIdOf({ offset, index }: Requested, kind: string, key: string): string {
  return `${offset}.${index}.${kind}.${key}`
}

export type DeadlineKind = 'tick' | 'deletion' | 'red-button' | 'seen'

export function deadlineId(kind: DeadlineKind, ...subject: readonly string[]): string {
  return keyOf(kind, ...subject)
}
