import { withoutPositions } from '../../state-stores/digest.js'
import type { Entry, KeyValueStore } from '../../state-stores/key-value-store.js'
import type { Table } from '../processor.js'
import { prefixRange } from '../task/row-store.js'
import { tableRuntimes } from '../task/table-runtime.js'

/** A row that two states do not have alike; undefined on a side: it has none. */
export interface RowDifference {
  readonly table: string
  readonly key: string
  readonly a: unknown
  readonly b: unknown
}

/**
 * The rows in which two stores differ, table by table in key order. `ignorePositions`: rows that differ only in journal
 * positions count as alike, as they must for stores of two sites.
 */
export async function* rowDifferences(
  a: KeyValueStore,
  b: KeyValueStore,
  tables: readonly Table<unknown>[],
  { ignorePositions = false }: { readonly ignorePositions?: boolean } = {},
): AsyncGenerator<RowDifference> {
  const isSame = (one: Buffer, other: Buffer): boolean =>
    ignorePositions ? withoutPositions(one).equals(withoutPositions(other)) : one.equals(other)
  for (const { table, prefix, digested } of tableRuntimes(tables)) {
    if (!digested) continue
    const row = (value: Buffer | undefined): unknown => (value === undefined ? undefined : table.codec.decode(value))
    for await (const [key, left, right] of merged(a, b, prefix)) {
      if (left !== undefined && right !== undefined && isSame(left, right)) continue
      yield { table: table.name, key: key.toString('utf8', 1), a: row(left), b: row(right) }
    }
  }
}

async function* merged(
  a: KeyValueStore,
  b: KeyValueStore,
  prefix: string,
): AsyncGenerator<readonly [key: Buffer, a: Buffer | undefined, b: Buffer | undefined]> {
  const left = entriesOf(a, prefix)
  const right = entriesOf(b, prefix)
  let one = await left.next()
  let other = await right.next()
  while (one.done !== true || other.done !== true) {
    const order = one.done === true ? 1 : other.done === true ? -1 : one.value[0].compare(other.value[0])
    const [leftKey, leftValue] = order <= 0 && one.done !== true ? one.value : []
    const [rightKey, rightValue] = order >= 0 && other.done !== true ? other.value : []
    const key = leftKey ?? rightKey
    if (key !== undefined) yield [key, leftValue, rightValue]
    if (order <= 0) one = await left.next()
    if (order >= 0) other = await right.next()
  }
}

async function* entriesOf(store: KeyValueStore, prefix: string): AsyncGenerator<Entry> {
  for await (const page of store.entries(prefixRange(prefix))) yield* page
}
