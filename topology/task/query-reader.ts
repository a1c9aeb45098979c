import type { IndexEntry, QueryReader, ScanRange, Table } from '../processor.js'
import { residentRows } from './row-store.js'
import type { RowStore, TableState } from './row-store.js'
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
  return new SourceReader(source)
}

/** One a query: without a closure for each of its methods. */
class SourceReader implements QueryReader {
  readonly #source: QuerySource
  readonly #rows: RowStore

  constructor(source: QuerySource) {
    this.#source = source
    this.#rows = source.rows
  }

  get partition(): number {
    return this.#source.partition
  }
  get time(): number {
    return this.#source.foldState.time
  }
  get settings(): unknown {
    return this.#source.foldState.settings
  }
  get journalTime(): number {
    return this.#source.journalTime
  }
  get memory(): unknown {
    return this.#source.memory
  }

  get<Row>(table: Table<Row>, key: string): Promise<Row | undefined> {
    return this.#rows.read(this.#state(table), key) as Promise<Row | undefined>
  }

  getMany<Row>(table: Table<Row>, keys: readonly string[]): Promise<(Row | undefined)[]> {
    return this.#rows.readMany(this.#state(table), keys) as Promise<(Row | undefined)[]>
  }

  resident<Row>(table: Table<Row>): [string, Row][] {
    return residentRows(this.#state(table)) as [string, Row][]
  }

  residentRow<Row>(table: Table<Row>, key: string): Row | undefined {
    return this.#state(table).resident?.get(key) as Row | undefined
  }

  rows<Row>(table: Table<Row>, range: ScanRange = {}): AsyncIterable<readonly (readonly [string, Row])[]> {
    return scanRows(this.#rows, this.#state(table), range) as AsyncIterable<readonly (readonly [string, Row])[]>
  }

  index(table: Table<unknown>, index: string, range: ScanRange = {}): AsyncIterable<readonly Required<IndexEntry>[]> {
    return scanIndex(this.#rows, this.#state(table), index, range)
  }

  #state<Row>(table: Table<Row>): TableState {
    return this.#rows.state(table)
  }
}
