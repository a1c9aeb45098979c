import type { IndexEntry, QueryReader, ScanRange, Table } from '../processor.js'
import { residentRows } from './row-store.js'
import type { RowStore } from './row-store.js'
import type { FoldState } from './folder.js'
import { scanIndex, scanRows } from './row-scan.js'

/** Rows, and what their folds remember besides. */
export interface QuerySource {
  readonly partition: number
  readonly rows: RowStore
  readonly foldState: Pick<FoldState, 'time' | 'settings'>
  readonly journalTime: number
  /** What the processor keeps for queries. */
  readonly memory: unknown
}

/** Read access of queries to rows, committed or not. */
export function queryReader(source: QuerySource): QueryReader {
  const { rows, partition } = source
  const state = <Row>(table: Table<Row>): ReturnType<typeof rows.state> => rows.state(table)
  return {
    partition,
    get time() {
      return source.foldState.time
    },
    get settings() {
      return source.foldState.settings
    },
    get journalTime() {
      return source.journalTime
    },
    memory: source.memory,
    get: async <Row>(table: Table<Row>, key: string) => (await rows.read(state(table), key)) as Row | undefined,
    getMany: async <Row>(table: Table<Row>, keys: readonly string[]) =>
      (await rows.readMany(state(table), keys)) as (Row | undefined)[],
    resident: <Row>(table: Table<Row>) => residentRows(state(table)) as [string, Row][],
    residentRow: <Row>(table: Table<Row>, key: string) => state(table).resident?.get(key) as Row | undefined,
    rows: <Row>(table: Table<Row>, range: ScanRange = {}) =>
      scanRows(rows, state(table), range) as AsyncIterable<readonly (readonly [string, Row])[]>,
    index: (
      table: Table<unknown>,
      index: string,
      range: ScanRange = {},
    ): AsyncIterable<readonly Required<IndexEntry>[]> => scanIndex(rows, state(table), index, range),
  }
}
