import { compareText } from '../../../state-stores/overlay.js'
import type { TrustLevel } from '../../../schemas/trust-level/journal-events.js'
import type { IndexEntry, QueryReader, ScanRange } from '../../../topology/processor.js'
import { countedOwnLevel, dataPluginOf, isLower, lower } from '../levels.js'
import {
  byPluginKey,
  cmHandles,
  handleEntry,
  isDataPlugin,
  loweredValue,
  plugins,
  pluginUse,
  SEPARATOR,
  trust,
} from '../tables.js'
import type { CmHandleRow, PluginRow } from '../tables.js'

/** A handle that a search has come to. */
export interface Hit {
  readonly id: string
  /** null: not known yet. */
  readonly alternateId: string | null
  readonly row: CmHandleRow | null
}

/** The hits after a handle id and up to `end`, in key order; `end` null: there are no more. */
export interface Chunk {
  readonly hits: readonly Hit[]
  readonly end: string | null
}

/** Reads about `size` hits after a handle id, all as of one moment. */
export type Walk = (reader: QueryReader, after: string | undefined, size: number) => Promise<Chunk>

/** The handles given, where they are registered. */
export function walkIds(ids: readonly string[]): Walk {
  const sorted = [...new Set(ids)].sort(compareText)
  return async (reader, after, size) => {
    const wanted = sorted.filter((id) => after === undefined || compareText(id, after) > 0).slice(0, size)
    return { hits: await withRows(reader, wanted.map(withoutRow)), end: endOf(wanted, size) }
  }
}

/** All handles, with their rows. */
export const walkRows: Walk = async (reader, after, size) => {
  const hits: Hit[] = []
  for await (const page of reader.rows(cmHandles, { limit: size, ...(after !== undefined && { after }) })) {
    for (const [id, row] of page) hits.push({ id, alternateId: row.alternateId, row })
  }
  return { hits, end: hits.length < size ? null : (hits.at(-1)?.id ?? null) }
}

/** All handles, by index. */
export const walkHandles: Walk = (reader, after, size) =>
  walkPlugins(reader, usedPlugins(reader), after, size, isDataPlugin)

/** Handles that name the plugin as DMI, data or model plugin. */
export function walkPlugin(name: string): Walk {
  return (reader, after, size) => walkPlugins(reader, [name], after, size, () => true)
}

/**
 * Handles of an effective level. A plugin at that level has all its handles there but those whose own level is lower; one at
 * a higher level has those there whose own level is that. Both come from indexes: no walk over other handles.
 */
export function walkLevel(level: TrustLevel): Walk {
  return async (reader, after, size) => {
    const levels = new Map(reader.resident(plugins))
    const atLevel = usedPlugins(reader).filter((name) => (levels.get(name)?.level ?? 'NONE') === level)
    const [ofPlugins, lowered] = await Promise.all([
      walkPlugins(reader, atLevel, after, size, isDataPlugin),
      readLowered(reader, { limit: size, ...(after !== undefined && { after }) }),
    ])
    const end = earlier(ofPlugins.end, lowered.length < size ? null : (lowered.at(-1)?.key ?? null))
    if (lowered.length === 0) return ofPlugins
    const levelOf = loweredLevels(levels)
    const below = new Set<string>()
    const hits: Hit[] = []
    for (const { key, value } of lowered) {
      if (isBeyond(key, end)) break
      const { own, plugin } = levelOf(value)
      if (isLower(own, level)) below.add(key)
      else if (own === level && isLower(level, plugin)) hits.push(withoutRow(key))
    }
    const needsSort = hits.length > 0
    for (const hit of ofPlugins.hits) if (!isBeyond(hit.id, end) && !below.has(hit.id)) hits.push(hit)
    return { hits: needsSort ? inOrder(hits) : hits, end }
  }
}

/**
 * Effective levels of handles in key order, all of them after `after`: from their data plugins and the index of lowered own
 * levels, not from their rows.
 */
export async function levelsOf(
  reader: QueryReader,
  handles: readonly Hit[],
  after: string | undefined,
): Promise<readonly TrustLevel[]> {
  const last = handles.at(-1)
  if (last === undefined) return []
  const levels = new Map(reader.resident(plugins))
  const range = { before: last.id + SEPARATOR, ...(after !== undefined && { after }) }
  const levelOf = loweredLevels(levels)
  const ownOf = new Map<string, TrustLevel>()
  for (const { key, value } of await readLowered(reader, range)) ownOf.set(key, levelOf(value).own)
  // Neighbours mostly have one plugin, and few handles a lowered level.
  let known = { plugin: '', level: levels.get('')?.level ?? 'NONE' }
  return handles.map(({ id, row }) => {
    const plugin = row === null ? '' : dataPluginOf(row)
    if (plugin !== known.plugin) known = { plugin, level: levels.get(plugin)?.level ?? 'NONE' }
    const own = ownOf.size === 0 ? undefined : ownOf.get(id)
    return own === undefined ? known.level : lower(known.level, own)
  })
}

/** Hits with their rows; those gone meanwhile are left out. */
export async function withRows(reader: QueryReader, hits: readonly Hit[]): Promise<readonly Hit[]> {
  const missing = hits.filter((hit) => hit.row === null)
  if (missing.length === 0) return hits
  const rows = await reader.getMany(
    cmHandles,
    missing.map(({ id }) => id),
  )
  let next = 0
  return hits.flatMap((hit): Hit[] => {
    const row = hit.row ?? rows[next++]
    return row === undefined ? [] : [{ id: hit.id, alternateId: row.alternateId, row }]
  })
}

function usedPlugins(reader: QueryReader): readonly string[] {
  return Array.from(reader.resident(pluginUse), ([name]) => name)
}

type IsWanted = typeof isDataPlugin

async function walkPlugins(
  reader: QueryReader,
  names: readonly string[],
  after: string | undefined,
  size: number,
  isWanted: IsWanted,
): Promise<Chunk> {
  // All walks begin at once, so that all see the same moment.
  const walks = names.map((name) => ({
    name,
    pages: reader.index(cmHandles, 'by-plugin', {
      prefix: byPluginKey(name),
      limit: size,
      ...(after !== undefined && { after: byPluginKey(name, after) }),
    }),
  }))
  const hits: Hit[] = []
  let end: string | null = null
  for (const { name, pages } of walks) {
    let read = 0
    let last: string | null = null
    for await (const page of pages) {
      for (const entry of page) {
        read++
        const { id, alternateId } = handleEntry(name, entry)
        last = id
        if (isWanted(entry)) hits.push({ id, alternateId, row: null })
      }
    }
    if (read === size) end = earlier(end, last)
  }
  if (names.length < 2) return { hits, end }
  return { hits: inOrder(hits).filter(({ id }) => !isBeyond(id, end)), end }
}

async function readLowered(reader: QueryReader, range: ScanRange): Promise<readonly Required<IndexEntry>[]> {
  const entries: Required<IndexEntry>[] = []
  for await (const page of reader.index(trust, 'lowered', range)) for (const entry of page) entries.push(entry)
  return entries
}

interface LoweredLevels {
  /** As it counts. */
  readonly own: TrustLevel
  readonly plugin: TrustLevel
}

/** What the values of `lowered` mean while plugins stand so; there are few different ones. */
function loweredLevels(levels: ReadonlyMap<string, PluginRow>): (value: string) => LoweredLevels {
  const known = new Map<string, LoweredLevels>()
  return (value) => {
    let meaning = known.get(value)
    if (meaning === undefined) {
      const told = loweredValue(value)
      const plugin = levels.get(told.plugin)
      meaning = {
        own: plugin === undefined ? told.own : countedOwnLevel(told, plugin),
        plugin: plugin?.level ?? 'NONE',
      }
      known.set(value, meaning)
    }
    return meaning
  }
}

function withoutRow(id: string): Hit {
  return { id, alternateId: null, row: null }
}

function inOrder(hits: Hit[]): Hit[] {
  return hits.sort((a, b) => compareText(a.id, b.id))
}

function endOf(ids: readonly string[], size: number): string | null {
  return ids.length < size ? null : (ids.at(-1) ?? null)
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return compareText(a, b) <= 0 ? a : b
}

function isBeyond(id: string, end: string | null): boolean {
  return end !== null && compareText(id, end) > 0
}
