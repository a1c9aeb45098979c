import { compareText } from '../state-stores/overlay.js'
import type { IndexEntry, ScanRange, Table } from '../topology/processor.js'

type SortedIndex = readonly Required<IndexEntry>[]

/** The rows of one partition of a fold kit, encoded: what is read went through its table's codec. */
export class KitRows {
  readonly #tables: ReadonlyMap<Table<unknown>, Map<string, Buffer>>
  readonly #indexes = new Map<Table<unknown>, Map<string, SortedIndex>>()

  constructor(tables: readonly Table<unknown>[]) {
    this.#tables = new Map(tables.map((table) => [table, new Map<string, Buffer>()]))
  }

  get<Row>(table: Table<Row>, key: string): Row | undefined {
    const bytes = this.#of(table).get(key)
    return bytes === undefined ? undefined : table.codec.decode(bytes)
  }

  put<Row>(table: Table<Row>, key: string, row: Row | undefined): void {
    if (row === undefined) this.#of(table).delete(key)
    else this.#of(table).set(key, table.codec.encode(row))
    this.#indexes.delete(table)
  }

  /** In key order. */
  all<Row>(table: Table<Row>): readonly (readonly [key: string, row: Row])[] {
    return Array.from(this.#of(table), ([key, bytes]) => [key, table.codec.decode(bytes)] as const).sort(([a], [b]) =>
      compareText(a, b),
    )
  }

  scan(table: Table<unknown>, name: string, range: ScanRange): SortedIndex {
    const known = this.#indexes.get(table)?.get(name) ?? this.#sorted(table, name)
    return within(known, ({ key }) => key, range)
  }

  /** Each row as text. */
  texts(): readonly string[] {
    return [...this.#tables].flatMap(([table, rows]) =>
      Array.from(rows, ([key, bytes]) => `${table.name}/${key}/${bytes.toString('hex')}`),
    )
  }

  #of(table: Table<unknown>): Map<string, Buffer> {
    const rows = this.#tables.get(table)
    if (rows === undefined) throw new Error(`table ${table.name} is not the processor's`)
    return rows
  }

  #sorted(table: Table<unknown>, name: string): SortedIndex {
    const index = table.indexes?.[name]
    if (index === undefined) throw new Error(`table ${table.name} has no index ${name}`)
    const sorted = this.all(table)
      .flatMap(([key, row]) => index.entries(key, row))
      .map(({ key, value = '' }) => ({ key, value }))
      .sort((a, b) => compareText(a.key, b.key))
    const ofTable = this.#indexes.get(table) ?? new Map<string, SortedIndex>()
    this.#indexes.set(table, ofTable.set(name, sorted))
    return sorted
  }
}

/** The items of a range, from sorted ones. */
export function within<Item>(
  sorted: readonly Item[],
  keyOf: (item: Item) => string,
  { prefix = '', after, before, limit }: ScanRange,
): readonly Item[] {
  const isInside = (key: string): boolean =>
    key.startsWith(prefix) &&
    (after === undefined || compareText(key, after) > 0) &&
    (before === undefined || compareText(key, before) < 0)
  return sorted.filter((item) => isInside(keyOf(item))).slice(0, limit)
}
