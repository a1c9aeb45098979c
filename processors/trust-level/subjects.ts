import type { RowLookUp, RowReference, Subjects } from '../../topology/processor.js'
import { countedOwnLevel, effectiveLevel } from './levels.js'
import { alternateIds, pluginHomes, plugins, trust } from './tables.js'

/** Cm handles, DMI plugins and alternate ids, each by its own text, as audits show them. */
export const trustLevelSubjects: Subjects = {
  relatedRows(subject, get): readonly RowReference[] {
    const plugin = get(trust, subject)?.plugin ?? ''
    return plugin === '' ? [] : [{ table: plugins, key: plugin }]
  },
  state: (subject, get) => handleState(subject, get) ?? pluginState(subject, get) ?? alternateIdState(subject, get),
}

function handleState(cmHandle: string, get: RowLookUp): Readonly<Record<string, unknown>> | null {
  const row = get(trust, cmHandle)
  if (row === undefined) return null
  if (row.status !== 'REGISTERED') return { status: row.status, ownLevel: row.own }
  const plugin = get(plugins, row.plugin)
  return {
    trustLevel: effectiveLevel(row, plugin),
    ownLevel: plugin === undefined ? row.own : countedOwnLevel(row, plugin),
    pluginLevel: plugin?.level ?? null,
    plugin: row.plugin,
  }
}

function pluginState(name: string, get: RowLookUp): Readonly<Record<string, unknown>> | null {
  const home = get(pluginHomes, name)
  return home === undefined ? null : { level: home.level, reason: home.reason, partitionsUsing: home.using.length }
}

function alternateIdState(alternateId: string, get: RowLookUp): Readonly<Record<string, unknown>> | null {
  const row = get(alternateIds, alternateId)
  return row === undefined ? null : { cmHandle: row.cmHandle, confirmed: row.confirmed }
}
