import type { RowLookUp, RowReference, Table } from '../processor.js'
import type { JournalFold } from './journal-fold.js'

/** Rows that any table of the domain has for a key, by table. JSON. */
export async function rowsOfKey(fold: JournalFold, key: string): Promise<Record<string, unknown>> {
  const rows: Record<string, unknown> = {}
  for (const table of fold.processor.tables) {
    const row = await fold.rows.read(fold.rows.state(table), key)
    if (row !== undefined) rows[table.name] = row
  }
  return rows
}

/** The domain's short state of a subject, with its rows and those that it follows from. */
export async function stateOf(fold: JournalFold, subject: string): Promise<SubjectState> {
  const { subjects, tables } = fold.processor
  const known = new Map<string, unknown>()
  const note = async ({ table, key }: RowReference): Promise<void> => {
    known.set(rowName(table, key), await fold.rows.read(fold.rows.state(table), key))
  }
  const get: RowLookUp = <Row>(table: Table<Row>, key: string) => known.get(rowName(table, key)) as Row | undefined
  for (const table of tables) await note({ table, key: subject })
  for (const related of subjects?.relatedRows(subject, get) ?? []) await note(related)
  const rows = Object.fromEntries([...known].filter(([, row]) => row !== undefined))
  return { state: subjects?.state(subject, get) ?? null, rows }
}

export interface SubjectState {
  readonly state: Readonly<Record<string, unknown>> | null
  /** By `table/key`. */
  readonly rows: Readonly<Record<string, unknown>>
}

export function rowName(table: Table<unknown>, key: string): string {
  return `${table.name}/${key}`
}
