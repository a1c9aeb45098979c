import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { avroRowCodec } from '../../schemas/avro.js'
import { createStoreDigest } from '../../state-stores/digest.js'
import { StoreError } from '../../state-stores/errors.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { IndexEntry, ScanRange, Table } from '../processor.js'
import { freeze } from './freeze.js'
import { scanIndex, scanRows } from './row-scan.js'
import { RowStore } from './row-store.js'

interface Row {
  readonly tags: string[]
}

/** Each tag of a row is an entry; its value is the row's key. */
const things: Table<Row> = {
  name: 'things',
  codec: avroRowCodec<Row>({
    type: 'record',
    name: 'Thing',
    fields: [{ name: 'tags', type: { type: 'array', items: 'string' } }],
  }),
  indexes: { byTag: { entries: (key, { tags }) => tags.map((tag) => ({ key: `${tag}/${key}`, value: key })) } },
}
const others: Table<Row> = { ...things, name: 'others' }

const word = fc.constantFrom('a', 'ab', 'abc', 'b', 'ba', 'z', 'ä', '￿', '😀', 'a/b')
const change = fc.tuple(word, fc.option(fc.uniqueArray(word, { maxLength: 3 })))
const range: fc.Arbitrary<ScanRange> = fc.record(
  { prefix: word, after: word, before: word, limit: fc.nat({ max: 4 }) },
  { requiredKeys: [] },
)

const byBytes = (a: string, b: string): number => Buffer.from(a).compare(Buffer.from(b))

function within<Item>(items: readonly (readonly [key: string, item: Item])[], scan: ScanRange): Item[] {
  const { prefix = '', after, before, limit = Number.POSITIVE_INFINITY } = scan
  return items
    .filter(([key]) => key.startsWith(prefix))
    .filter(([key]) => after === undefined || byBytes(key, after) > 0)
    .filter(([key]) => before === undefined || byBytes(key, before) < 0)
    .sort(([a], [b]) => byBytes(a, b))
    .slice(0, limit)
    .map(([, item]) => item)
}

async function all<E>(pages: AsyncIterable<readonly E[]>): Promise<E[]> {
  const found: E[] = []
  for await (const page of pages) found.push(...page)
  return found
}

t.test('a scan sees rows and entries on their whole way to the store, in any range', async () => {
  const changes = fc.array(change, { maxLength: 8 })
  const property = fc.asyncProperty(changes, changes, changes, range, async (stored, frozen, open, scan) => {
    const store = await memoryProvider().open('rows')
    const rows = new RowStore(store, [things, others], 0)
    const state = rows.state(things)
    const model = new Map<string, Row>()
    const apply = async (given: readonly (readonly [string, string[] | null])[]): Promise<void> => {
      for (const [key, tags] of given) {
        await rows.load([
          { table: things, key },
          { table: others, key },
        ])
        rows.beginEvent()
        rows.put(state, key, tags === null ? undefined : { tags })
        rows.put(rows.state(others), key, { tags: ['another table'] })
        rows.endSegment()
        if (tags === null) model.delete(key)
        else model.set(key, { tags })
      }
    }
    await apply(stored)
    await store.write(freeze(rows.tables, createStoreDigest()).operations())
    rows.finishCommit()
    await apply(frozen)
    const { operations } = freeze(rows.tables, createStoreDigest())
    await apply(open)
    const expectedRows = within(
      [...model].map(([key, row]) => [key, [key, row.tags]]),
      scan,
    )
    const entries = [...model].flatMap(([key, row]) => [...(things.indexes?.byTag?.entries(key, row) ?? [])])
    const expectedEntries = within<IndexEntry>(
      entries.map((entry) => [entry.key, entry]),
      scan,
    )
    const rowsThen = scanRows(rows, state, scan)
    const entriesThen = scanIndex(rows, state, 'byTag', scan)
    // What changes after the call does not show.
    await store.write(operations())
    rows.finishCommit()
    await apply([['a', null]])
    const found = (await all(rowsThen)) as [string, Row][]
    assert.deepEqual(
      found.map(([key, { tags }]) => [key, [...tags]]),
      expectedRows,
    )
    assert.deepEqual(await all(entriesThen), expectedEntries)
  })
  await fc.assert(property, { seed: 6, numRuns: 1500 })
})

t.test('an index that the table does not have is a mistake that names both', async (t) => {
  const rows = new RowStore(await memoryProvider().open('rows'), [things], 0)
  t.throws(() => scanIndex(rows, rows.state(things), 'none', {}), {
    code: 'ROW_NOT_DECLARED',
    message: 'table things has no index none',
  })
})

t.test('a row that cannot be decoded is damage where a look-up says so', async (t) => {
  const store = await memoryProvider().open('rows')
  const rows = new RowStore(store, [things], 0)
  await store.write([{ key: Buffer.from(`${rows.state(things).runtime.prefix}a`), value: Buffer.from([0x80]) }])
  await t.rejects(all(scanRows(rows, rows.state(things), {})), { name: 'RangeError' })
  const damage = new StoreError('STORE_CORRUPT', 'checksums do not agree')
  rows.replaceStore({ ...store, get: () => Promise.reject(damage) })
  await t.rejects(all(scanRows(rows, rows.state(things), {})), { code: 'STORE_CORRUPT' })
})
