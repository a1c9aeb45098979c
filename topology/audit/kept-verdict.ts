import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import type { EventPosition, Processor } from '../processor.js'
import type { AuditedJournal } from './audit.js'
import { digestOfRows } from './kept-state.js'
import type { KeptState } from './kept-state.js'
import { rowDifferences } from './row-differences.js'
import type { RowDifference } from './row-differences.js'

/** Whether a kept state is what its journal gives. */
export interface KeptVerdict {
  readonly name: KeptState['name']
  readonly offset: number
  readonly sealed: string
  /** Of the rows as they stand: another than sealed means that they were changed behind the engine's back; null: not known. */
  readonly ofRows: string | null
  /** null: the journal lacks what it would take. */
  readonly ofJournal: string | null
  /** null: its rows are those that it sealed, and the journal lacks what more would take. */
  readonly isEqual: boolean | null
  /** The first rows that differ: a is kept, b follows from the journal; and where the journal changed them last. None of a live copy. */
  readonly differences: readonly (RowDifference & { readonly lastChange: EventPosition | null })[]
}

const MAX_DIFFERENCES = 20

/** Compares it with what the journal, folded to its position, gives. */
export async function judge(
  state: KeptState,
  ofJournal: string,
  folded: KeyValueStore,
  { processor }: AuditedJournal,
): Promise<KeptVerdict> {
  const { name, offset, sealed, rows } = state
  const ofRows = await rowsDigest(state, processor)
  const isEqual = sealed === ofJournal && (ofRows ?? ofJournal) === ofJournal
  const differences: KeptVerdict['differences'][number][] = []
  if (!isEqual && rows !== undefined) {
    for await (const difference of rowDifferences(rows, folded, processor.tables)) {
      differences.push({ ...difference, lastChange: null })
      if (differences.length === MAX_DIFFERENCES) break
    }
  }
  return { name, offset, sealed, ofRows, ofJournal, isEqual, differences }
}

/** What can be told of a state without the journal: whether its rows are those that it sealed. */
export async function judgeAlone(state: KeptState, { processor }: AuditedJournal): Promise<KeptVerdict> {
  const { name, offset, sealed } = state
  const ofRows = await rowsDigest(state, processor)
  const isEqual = ofRows === null || ofRows === sealed ? null : false
  return { name, offset, sealed, ofRows, ofJournal: null, isEqual, differences: [] }
}

async function rowsDigest({ rows, ofRows = null }: KeptState, { tables }: Processor): Promise<string | null> {
  return rows === undefined ? ofRows : digestOfRows(rows, tables)
}
