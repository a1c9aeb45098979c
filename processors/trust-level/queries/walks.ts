import { compareText } from '../../../state-stores/overlay.js'
import type { TrustLevel } from '../../../schemas/trust-level/journal-events.js'
import type { QueryReader } from '../../../topology/processor.js'
import { countedOwnLevel, isLower } from '../levels.js'
import {
  byPluginKey,
  cmHandles,
  handleEntry,
  isDataPlugin,
  loweredEntry,
  plugins,
  pluginUse,
  trust,
} from '../tables.js'
import type { CmHandleRow, LoweredEntry, PluginRow } from '../tables.js'

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
    const end = earlier(ofPlugins.end, lowered.length < size ? null : (lowered.at(-1)?.id ?? null))
    const below = new Set<string>()
    const hits: Hit[] = []
    for (const entry of lowered) {
      const plugin = levels.get(entry.plugin)
      if (plugin === undefined || isBeyond(entry.id, end)) continue
      const own = countedOwnLevel(entry, plugin)
      if (isLower(own, level)) below.add(entry.id)
      else if (own === level && isLower(level, plugin.level)) hits.push(withoutRow(entry.id))
    }
    const needsSort = hits.length > 0
    for (const hit of ofPlugins.hits) if (!isBeyond(hit.id, end) && !below.has(hit.id)) hits.push(hit)
    return { hits: needsSort ? inOrder(hits) : hits, end }
  }
}

/** Effective levels of handles in key order, by data plugin, from the index of lowered own levels. */
export async function levelsOf(
  reader: QueryReader,
  handles: readonly { readonly id: string; readonly plugin: string }[],
): Promise<readonly TrustLevel[]> {
  const first = handles[0]
  const last = handles.at(-1)
  if (first === undefined || last === undefined) return []
  const levels = new Map<string, PluginRow>(reader.resident(plugins))
  const lowered = await readLowered(reader, { from: first.id, before: last.id + '\u0000' })
  const ownOf = new Map(lowered.map((entry) => [entry.id, entry]))
  return handles.map(({ id, plugin }) => {
    const row = levels.get(plugin)
    const entry = ownOf.get(id)
    if (row === undefined) return 'NONE'
    const own = entry === undefined ? 'COMPLETE' : countedOwnLevel(entry, row)
    return isLower(own, row.level) ? own : row.level
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

async function readLowered(
  reader: QueryReader,
  { from, ...range }: { from?: string; after?: string; before?: string; limit?: number },
): Promise<readonly LoweredEntry[]> {
  const entries: LoweredEntry[] = []
  for await (const page of reader.index(trust, 'lowered', range)) {
    for (const entry of page)
      if (from === undefined || compareText(entry.key, from) >= 0) entries.push(loweredEntry(entry))
  }
  return entries
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
