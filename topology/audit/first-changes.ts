import type { EventPosition } from '../processor.js'
import type { Folded } from '../task/folder.js'
import { withFold } from './audit.js'
import type { Audit, AuditedJournal } from './audit.js'
import { rowName } from './rows.js'
import type { StampedSeal } from './seals.js'
import type { FirstDifference } from './verify.js'

/** What a journal entry changes in one row. */
export interface RowChangeAt extends EventPosition {
  readonly row: string
  readonly before: unknown
  readonly after: unknown
}

const MAX_CHANGES = 50

/**
 * Folds a journal once more, to narrow a difference down: notes what the journal changes from the last good seal to the first
 * bad one, and where it changes the rows given last.
 */
export async function findFirstChanges(
  audit: Audit,
  audited: AuditedJournal,
  { lastGood, firstBad, rows, upTo }: DifferenceFound,
): Promise<{ readonly firstDifference: FirstDifference | null; readonly lastChanges: Map<string, EventPosition> }> {
  const wanted = new Set(rows.map(({ table, key }) => `${table}/${key}`))
  const lastChanges = new Map<string, EventPosition>()
  let changes: RowChangeAt[] = []
  const onFolded = ({ position, changes: changed }: Folded): void => {
    for (const { table, key, before, after } of changed) {
      const row = rowName(table, key)
      if (wanted.has(row)) lastChanges.set(row, position)
      if (table.name.startsWith('$') || changes.length >= MAX_CHANGES) continue
      changes.push({ ...position, row, before, after })
    }
  }
  const begin = (await audit.source.logStart?.(audited.journal)) ?? 0
  return withFold(audit, audited, begin, { onFolded }, async (fold) => {
    await fold.foldTo(lastGood)
    const from = Math.max(lastGood, fold.begunAt)
    let firstDifference: FirstDifference | null = null
    if (firstBad !== undefined) {
      changes = []
      await fold.foldTo(firstBad.offset)
      const ofJournal = fold.digest.rows.toHex()
      firstDifference = { from, to: firstBad.offset, seal: firstBad, ofJournal, changes }
    }
    changes = []
    await fold.foldTo(upTo)
    return { firstDifference, lastChanges }
  })
}

interface DifferenceFound {
  readonly lastGood: number
  readonly firstBad: StampedSeal | undefined
  readonly rows: readonly { readonly table: string; readonly key: string }[]
  /** Journal offset (exclusive) of the state that has these rows. */
  readonly upTo: number
}
