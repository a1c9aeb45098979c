import type { OwnerEntry } from '../journal/entry.js'

/** A term that began under other settings than the one before it. JSON. */
export interface SettingsChange {
  /** Of the owner's record in the journal, and when the log stamped it, ms. */
  readonly offset: number
  readonly timestamp: number
  readonly epoch: number
  readonly instance: string
  /** As the owner tells; null: it does not. */
  readonly actor: string | null
  readonly reason: string | null
  /** What folds read of the settings, as far as it differs, by name; null: there was, or is, none. Empty: they were the first. */
  readonly changed: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>
}

/** What a term changes of the settings in force before it; undefined: nothing. `before` null: none were. */
export function settingsChange(
  before: unknown,
  { settings, epoch, instance, actor, reason }: OwnerEntry,
  offset: number,
  timestamp: number,
): SettingsChange | undefined {
  const told = { offset, timestamp, epoch, instance, actor: actor ?? null, reason: reason ?? null }
  if (before === null) return { ...told, changed: {} }
  const [old, present] = [before as Record<string, unknown>, JSON.parse(settings) as Record<string, unknown>]
  const names = [...new Set([...Object.keys(old), ...Object.keys(present)])]
  const differing = names.filter((name) => JSON.stringify(old[name]) !== JSON.stringify(present[name]))
  if (differing.length === 0) return undefined
  const changes = differing.map((name) => [name, { before: old[name] ?? null, after: present[name] ?? null }])
  return { ...told, changed: Object.fromEntries(changes) as SettingsChange['changed'] }
}
