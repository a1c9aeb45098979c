import type { EventPosition } from '../processor.js'
import type { Folded, Rule } from '../task/folder.js'
import { journalsOf, withFold } from './audit.js'
import type { Audit, AuditedJournal, AuditScope } from './audit.js'
import type { Gap } from './journal-source.js'
import { namedIn, offsetOf } from './moment.js'
import type { Moment } from './moment.js'
import { progressOver } from './progress.js'
import type { OnProgress } from './replay-journals.js'
import { rowDifferences } from './row-differences.js'
import type { RowDifference } from './row-differences.js'
import { rowName } from './rows.js'

/** A side of a comparison: some journals, up to a moment. */
export interface Side {
  readonly audit: Audit
  readonly until: Moment
}

export interface DiffRequest extends AuditScope {
  readonly a: Side
  readonly b: Side
  /** Of two sites: rows that differ only in journal positions are alike. */
  readonly ignorePositions?: boolean
  /** Most rows told of a partition. */
  readonly limit: number
  readonly onProgress?: OnProgress
}

/** What differs between two states of a partition. JSON. */
export interface PartitionDiff {
  readonly domain: string
  readonly partition: number
  /** Journal offsets (exclusive) and digests of both. */
  readonly a: { readonly offset: number; readonly digest: string }
  readonly b: { readonly offset: number; readonly digest: string }
  /** In key order; `why`: the entry of b's journal that changed the row last. */
  readonly rows: readonly (RowDifference & {
    readonly why: (EventPosition & { readonly rules: readonly Rule[] }) | null
  })[]
  /** There are more than these. */
  readonly hasMore: boolean
  readonly gaps: readonly Gap[]
  /** Of both: records that are no blocks of entries. */
  readonly unreadable: readonly string[]
}

/** Compares two states, partition by partition. Both sides must have the same partitions. */
export async function diffStates(request: DiffRequest): Promise<readonly PartitionDiff[]> {
  const journals = await journalsOf(request.b.audit, request)
  const { a, b, onProgress } = request
  for (const { until } of [a, b]) namedIn(journals, until)
  const ends = journals.map(({ journal }) =>
    [a, b].map(({ audit, until }) => offsetOf(audit.source.reader, journal, until)),
  )
  const progress = progressOver(await Promise.all(ends.flat()), onProgress)
  const diffs: PartitionDiff[] = []
  for (const audited of journals) diffs.push(await diffPartition(audited, request, progress.part))
  return diffs
}

async function diffPartition(
  audited: AuditedJournal,
  request: DiffRequest,
  part: () => (offset: number) => void,
): Promise<PartitionDiff> {
  const { a, b, ignorePositions = false, limit } = request
  const { processor, journal } = audited
  const from = await offsetOf(a.audit.source.reader, journal, a.until)
  const to = await offsetOf(b.audit.source.reader, journal, b.until)
  const isOneJournal = a.audit === b.audit
  const lastChanges = new Map<string, EventPosition & { readonly rules: readonly Rule[] }>()
  const onFolded = ({ position, rules, changes }: Folded): void => {
    if (isOneJournal && position.offset < from) return
    for (const { table, key } of changes) {
      if (!table.name.startsWith('$')) lastChanges.set(rowName(table, key), { ...position, rules })
    }
  }
  return withFold(a.audit, audited, from, { onProgress: part() }, async (left) => {
    await left.foldTo(from)
    return withFold(
      b.audit,
      audited,
      isOneJournal ? Math.min(from, to) : to,
      { onFolded, onProgress: part() },
      async (right) => {
        await right.foldTo(to)
        const digestOf = ({ digest }: typeof left): string =>
          (ignorePositions ? digest.withoutPositions : digest.rows).toHex()
        const rows: PartitionDiff['rows'][number][] = []
        let hasMore = false
        const differences = rowDifferences(await left.store(), await right.store(), processor.tables, {
          ignorePositions,
        })
        for await (const difference of differences) {
          hasMore = rows.length === limit
          if (hasMore) break
          rows.push({ ...difference, why: lastChanges.get(`${difference.table}/${difference.key}`) ?? null })
        }
        return {
          domain: processor.name,
          partition: journal.partition,
          a: { offset: from, digest: digestOf(left) },
          b: { offset: to, digest: digestOf(right) },
          rows,
          hasMore,
          unreadable: [...new Set([...left.unreadable, ...right.unreadable].map(({ message }) => message))],
          gaps: uniqueGaps([...(await left.gapsAt(a.until)), ...(await right.gapsAt(b.until))]),
        }
      },
    )
  })
}

function uniqueGaps(gaps: readonly Gap[]): readonly Gap[] {
  return [...new Map(gaps.map((gap) => [JSON.stringify(gap), gap])).values()]
}
