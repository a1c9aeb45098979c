import type { JournalFold } from '../audit/journal-fold.js'
import { rowName } from '../audit/rows.js'
import type { RowLookUp, Table } from '../processor.js'
import type { RowChange } from '../task/row-store.js'

/**
 * Of the rows that an entry has changed those that matter to a subject's state in short: rows of resident tables, which others
 * follow from, and those whose own key has another state than before.
 */
export function decisiveChanges({ processor, rows }: JournalFold, changes: readonly RowChange[]): readonly RowChange[] {
  const { subjects } = processor
  if (subjects === undefined) return changes
  const changed = new Map(changes.map((change) => [rowName(change.table, change.key), change]))
  const lookUp =
    (side: 'before' | 'after'): RowLookUp =>
    <Row>(table: Table<Row>, key: string) => {
      const change = changed.get(rowName(table, key))
      return (change === undefined ? present(table, key) : change[side]) as Row | undefined
    }
  const present = (table: Table<unknown>, key: string): unknown => {
    const { resident, current, loaded } = rows.state(table)
    return resident === undefined ? (current.get(key) ?? loaded.get(key))?.row : resident.get(key)
  }
  const [before, after] = [lookUp('before'), lookUp('after')]
  return changes.filter(
    ({ table, key }) =>
      table.resident === true ||
      JSON.stringify(subjects.state(key, before)) !== JSON.stringify(subjects.state(key, after)),
  )
}
