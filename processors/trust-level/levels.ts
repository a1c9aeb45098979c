import type { DmiPluginNames, TrustLevel } from '../../schemas/trust-level/journal-events.js'
import type { PluginRow, TrustRow } from './tables.js'

/** NONE < COMPLETE, with room between. */
const RANK: Readonly<Record<TrustLevel, number>> = { NONE: 0, COMPLETE: 100 }

export function isLower(level: TrustLevel, other: TrustLevel): boolean {
  return RANK[level] < RANK[other]
}

export function lower(a: TrustLevel, b: TrustLevel): TrustLevel {
  return RANK[a] <= RANK[b] ? a : b
}

/** A handle's own level as it counts: one told before its plugin's last return is COMPLETE. */
export function countedOwnLevel(row: Pick<TrustRow, 'own' | 'returnNumber'>, plugin: PluginRow): TrustLevel {
  return row.returnNumber === plugin.returnNumber ? row.own : 'COMPLETE'
}

/** The lower of own and plugin's level; NONE where the plugin is not known. */
export function effectiveLevel(row: Pick<TrustRow, 'own' | 'returnNumber'>, plugin: PluginRow | undefined): TrustLevel {
  return plugin === undefined ? 'NONE' : lower(plugin.level, countedOwnLevel(row, plugin))
}

/** The plugin whose health decides over a handle. (trust levels, section 0) */
export function dataPluginOf(names: DmiPluginNames): string {
  return names.dmiDataPlugin === '' ? names.dmiPlugin : names.dmiDataPlugin
}
