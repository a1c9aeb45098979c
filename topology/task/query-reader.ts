import type { IndexEntry, QueryReader, ScanRange, Table } from '../processor.js'
import { residentRows } from './row-store.js'
import { scanIndex, scanRows } from './row-scan.js'
import type { Task } from './task.js'

/** Read access of queries to a task's rows, committed or not. */
export function queryReader(task: Task): QueryReader {
  const { rows, folder, partition } = task
  const state = <Row>(table: Table<Row>): ReturnType<typeof rows.state> => rows.state(table)
  return {
    partition,
    get time() {
      return folder.state.time
    },
    get settings() {
      return folder.state.settings
    },
    get: async <Row>(table: Table<Row>, key: string) =>
      (await rows.readMany(state(table), [key]))[0] as Row | undefined,
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
