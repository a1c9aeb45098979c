import type { FoldContext } from '../../topology/processor.js'
import type { AddressHealthSettings } from './settings.js'

export type Context = FoldContext<AddressHealthSettings>

/** Counters of the fold; the part after `:` in metrics is the label. */
export const counters = {
  outcomes: 'Call outcomes folded, by result',
  uncounted_outcomes:
    'Call outcomes that count for nothing, by reason: undetected (detection is off), inactive, failed (no retry), attempt (not the retry under way), ignored, repeated',
  unknown_outcomes: 'Call outcomes given up: there is no such platform or address',
  unchecked_outcomes: 'Call outcomes counted without a look whether they are repeats, beyond outcomeIdLimit',
  replaced_outcome_times:
    'Call outcomes whose own time is malformed or too far ahead, by reason; they count at arrival',
  late_outcomes: 'Call outcomes whose own time is before the window they are counted in',
  address_moves: 'Changes of address states, by reason',
  retries: 'Retries of failed addresses, by what became of them: granted, denied, success, failure, ignored, expired',
  address_alarms: 'Alarms told, by state',
  alarm_posts: 'Attempts to tell Alertmanager folded, by outcome',
} as const
