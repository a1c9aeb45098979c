import type { FoldContext } from '../../topology/processor.js'
import type { TrustLevelEvent } from '../../schemas/trust-level/journal-events.js'
import type { TrustLevelSettings } from './settings.js'

export type Context = FoldContext<TrustLevelSettings>

/** An event of this domain for the own journal, with its type checked. */
export function sendEvent(context: Context, key: string, event: TrustLevelEvent): void {
  context.send(key, event)
}

export function broadcastEvent(context: Context, event: TrustLevelEvent): void {
  context.broadcast(event)
}

/** Counters of the fold; the part after `:` in metrics is the label. */
export const counters = {
  heartbeats: 'Reports of handle levels folded, by event type (known ones, else "other")',
  late_heartbeats: 'Reports older than what is known of their handle: they change nothing',
  pending_heartbeats: 'Reports on handles that are not registered',
  unregistered_dead_letters: 'Reports given up: no registration came in time, or the handle was removed after them',
  replaced_event_times: 'Reports taken at arrival: event time malformed or too far ahead, by reason',
  notices: 'Effective changes of level told to the outside, by cause',
  plugin_level_changes: 'Changes of plugin levels at their homes, by new level',
  plugin_checks: 'Health checks folded, by outcome',
  plugins_forgotten: 'Plugins given up because no handle is left',
  handles_registered: 'Handles created',
  handles_removed: 'Handles removed',
  denied_claims: 'Claims of alternate ids that stayed open and were found not to hold',
} as const

export type Counter = keyof typeof counters
