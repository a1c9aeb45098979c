import type { Query, QueryReader } from '../../../topology/processor.js'
import type { CmHandleView, SearchArguments, SearchPage } from '../views.js'
import { viewOf } from './cm-handle.js'
import { matchesRow, namesPlugin, planSearch } from './conditions.js'
import type { SearchPlan } from './conditions.js'
import { levelsOf, walkHandles, walkIds, walkLevel, walkPlugin, walkRows, withRows } from './walks.js'
import type { Hit, Walk } from './walks.js'

/** Hits read at once where only texts are, or whole rows. */
const TEXTS_AT_ONCE = 10_000
const ROWS_AT_ONCE = 1_000

/**
 * Handles of one partition for which all conditions hold, in key order. A trust level, a plugin, an id or no condition at all
 * is answered from an index; for others rows are looked at, only those that the indexes leave. (trust levels, section 2)
 */
export const searchQuery: Query<SearchArguments, SearchPage> = {
  name: 'search',
  async run(reader, args) {
    const plan = planSearch(args.conditions)
    if (plan === null) return { texts: [], views: [], last: null }
    const { hits, last } = await collect(reader, prepared(plan, args), args)
    if (args.fields !== 'view') return { texts: hits.map((hit) => textOf(hit, args.fields)), views: [], last }
    return { texts: [], views: await views(reader, hits, plan, args), last }
  },
}

interface Prepared {
  readonly walk: Walk
  readonly needsRows: boolean
  /** Leaves those out for which a condition does not hold that the walk has not answered. */
  readonly filter: (reader: QueryReader, hits: readonly Hit[], after: string | undefined) => Promise<readonly Hit[]>
}

function prepared(plan: SearchPlan, { fields }: SearchArguments): Prepared {
  const { ids, level, dmiPlugin, ofRows } = plan
  const byIds = ids !== null
  const byLevel = !byIds && level !== null
  const byPlugin = !byIds && !byLevel && dmiPlugin !== null
  const checksRows = ofRows.length > 0 || dmiPlugin !== null
  const asksRows = ofRows.length > 0 || (dmiPlugin !== null && !byPlugin)
  const asksLevel = level !== null && !byLevel
  const needsRows = asksRows || asksLevel || fields === 'view'
  const byAny = needsRows ? walkRows : walkHandles
  const walk = byIds ? walkIds(ids) : byLevel ? walkLevel(level) : byPlugin ? walkPlugin(dmiPlugin) : byAny
  return {
    walk,
    needsRows,
    async filter(reader, hits, after) {
      const matching = !checksRows
        ? hits
        : hits.filter(
            ({ id, row }) =>
              row === null ||
              ((dmiPlugin === null || namesPlugin(row, dmiPlugin)) &&
                ofRows.every((condition) => matchesRow(id, row, condition))),
          )
      if (!asksLevel) return matching
      const levels = await levelsOf(reader, matching, after)
      return matching.filter((_, i) => levels[i] === level)
    },
  }
}

async function collect(
  reader: QueryReader,
  { walk, needsRows, filter }: Prepared,
  { fields, after, limit = Infinity }: SearchArguments,
): Promise<{ readonly hits: readonly Hit[]; readonly last: string | null }> {
  // One more than wanted tells whether there is a next page.
  const size = Math.min(limit + 1, needsRows ? ROWS_AT_ONCE : TEXTS_AT_ONCE)
  let found: Hit[] = []
  let from = after
  while (found.length <= limit) {
    const chunk = await walk(reader, from, size)
    const known = needsRows ? await withRows(reader, chunk.hits) : await withAlternateIds(reader, chunk.hits, fields)
    const matching = await filter(reader, known, from)
    if (found.length === 0) found = [...matching]
    else for (const hit of matching) found.push(hit)
    if (chunk.end === null) break
    from = chunk.end
  }
  if (found.length <= limit) return { hits: found, last: null }
  const hits = found.slice(0, limit)
  return { hits, last: hits.at(-1)?.id ?? null }
}

/** Only those few are looked up that came from an index without alternate ids. */
async function withAlternateIds(
  reader: QueryReader,
  hits: readonly Hit[],
  fields: SearchArguments['fields'],
): Promise<readonly Hit[]> {
  if (fields === 'id' || hits.every((hit) => hit.alternateId !== null)) return hits
  const known = await withRows(
    reader,
    hits.filter((hit) => hit.alternateId === null),
  )
  const byId = new Map(known.map((hit) => [hit.id, hit]))
  return hits.flatMap((hit) => (hit.alternateId === null ? (byId.get(hit.id) ?? []) : hit))
}

async function views(
  reader: QueryReader,
  hits: readonly Hit[],
  { level }: SearchPlan,
  { after, trustLevels = true }: SearchArguments,
): Promise<readonly CmHandleView[]> {
  const levels = trustLevels && level === null ? await levelsOf(reader, hits, after) : []
  return hits.flatMap(({ id, row }, i): CmHandleView[] =>
    row === null ? [] : [viewOf(id, row, trustLevels ? (level ?? levels[i] ?? 'NONE') : undefined)],
  )
}

function textOf({ id, alternateId }: Hit, fields: SearchArguments['fields']): string {
  return fields === 'id' || alternateId === null || alternateId === '' ? id : alternateId
}
