import assert from 'node:assert'
import fc from 'fast-check'
import t from 'tap'
import { createStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { counts, countingProcessor, totals } from '../counting-processor.js'
import type { CountRow } from '../counting-processor.js'
import type { Table } from '../processor.js'
import { freeze, indexChanges } from './freeze.js'
import { rowCaches } from './row-cache.js'
import { prefixRange, RowStore } from './row-store.js'
import { scanIndex, scanRows } from './row-scan.js'
import { deadlineKey, engineTables } from './table-runtime.js'

const CACHE_BYTES = 100_000
const row = (count: number): CountRow => ({ count, woken: 0, lastOffset: 0, due: 0 })

async function newRows(
  cacheBytes = CACHE_BYTES,
): Promise<{ rows: RowStore; store: KeyValueStore; digest: StoreDigest }> {
  const store = await memoryProvider().open('rows')
  const rows = new RowStore(store, countingProcessor.tables, cacheBytes)
  await rows.loadResident()
  return { rows, store, digest: createStoreDigest() }
}

async function commit(rows: RowStore, digest: StoreDigest): Promise<readonly WriteOperation[]> {
  const operations = frozen(rows, digest)
  await rows.store.write(operations)
  rows.finishCommit()
  return operations
}

function frozen(rows: RowStore, digest: StoreDigest): readonly WriteOperation[] {
  return Array.from(freeze(rows.tables, digest).operations(), ({ key, value }) => ({
    key: Buffer.from(key),
    value: value && Buffer.from(value),
  }))
}

/** One event that touches one row. */
async function put<Row>(rows: RowStore, table: Table<Row>, key: string, value: Row | undefined): Promise<void> {
  await rows.load([{ table, key }])
  rows.beginEvent()
  rows.put(rows.state(table), key, value)
  rows.endSegment()
}

async function seen(rows: RowStore, table: Table<unknown>, key: string): Promise<unknown> {
  await rows.load([{ table, key }])
  const found = rows.get(rows.state(table), key)
  rows.endSegment()
  return found
}

t.test('a row that queries alone read again is read from the store once, and is as commits leave it', async (t) => {
  const { rows: former, store, digest } = await newRows()
  await put(former, counts, 'a', row(1))
  await commit(former, digest)
  const table: Table<CountRow> = { ...counts, cachedFor: 'queries' }
  let reads = 0
  const counted = { ...store, get: (key: Buffer) => (reads++, store.get(key)) }
  const rows = new RowStore(counted, [table], rowCaches(CACHE_BYTES))
  const state = rows.state(table)
  for (let asked = 0; asked < 3; asked++) {
    t.same(await rows.read(state, 'a'), row(1))
    t.equal(await rows.read(state, 'b'), undefined)
  }
  t.equal(reads, 2, 'that there is none is known, too')
  await put(rows, table, 'a', row(2))
  await put(rows, table, 'b', row(3))
  await commit(rows, digest)
  t.same([await rows.read(state, 'a'), await rows.read(state, 'b')], [row(2), row(3)])
  await put(rows, table, 'a', undefined)
  await commit(rows, digest)
  t.equal(await rows.read(state, 'a'), undefined)
  t.equal(reads, 2)
})

t.test('a row that was not declared can be neither read nor written', async (t) => {
  const { rows } = await newRows()
  await rows.load([{ table: counts, key: 'a' }])
  t.equal(rows.get(rows.state(counts), 'a'), undefined, 'declared and absent')
  t.throws(() => rows.get(rows.state(counts), 'b'), { code: 'ROW_NOT_DECLARED' })
  t.throws(() => rows.put(rows.state(counts), 'b', row(1)), { code: 'ROW_NOT_DECLARED' })
  rows.endSegment()
  t.throws(() => rows.get(rows.state(counts), 'a'), { code: 'ROW_NOT_DECLARED' }, 'only for its segment')
  t.throws(() => rows.state({ ...counts }), { code: 'ROW_NOT_DECLARED' }, "another processor's table")
})

t.test('a key changed often between commits is written once, and not at all when it is as before', async (t) => {
  const { rows, digest } = await newRows()
  await put(rows, counts, 'a', row(1))
  await commit(rows, digest)
  for (let count = 2; count < 10; count++) await put(rows, counts, 'a', row(count))
  const written = await commit(rows, digest)
  t.same(
    written.map(({ key, value }) => [key.toString().slice(1), value === null]),
    [
      ['a', false],
      ['00000009\u0000a', false],
      ['00000001\u0000a', true],
    ],
  )
  await put(rows, counts, 'a', row(10))
  await put(rows, counts, 'a', row(9))
  t.same(await commit(rows, digest), [])
})

t.test('revert takes back all that the event did, in resident and other tables', async (t) => {
  const { rows, digest } = await newRows()
  await put(rows, counts, 'a', row(1))
  await put(rows, totals, 'all', { total: 1 })
  await rows.load([
    { table: counts, key: 'a' },
    { table: counts, key: 'b' },
  ])
  rows.beginEvent()
  rows.put(rows.state(counts), 'a', row(2))
  rows.put(rows.state(counts), 'a', undefined)
  rows.put(rows.state(counts), 'b', row(2))
  rows.put(rows.state(totals), 'all', { total: 2 })
  rows.put(rows.state(totals), 'other', { total: 2 })
  rows.revert()
  t.same(rows.get(rows.state(counts), 'a'), row(1))
  t.equal(rows.get(rows.state(counts), 'b'), undefined)
  rows.endSegment()
  t.same([...(rows.state(totals).resident ?? [])], [['all', { total: 1 }]])
  t.equal((await commit(rows, digest)).length, 3, 'two rows and an index entry')
})

t.test('rows of the engine, once committed, are not seen as they were before', async (t) => {
  const { rows, digest } = await newRows()
  const { answers, deadlines } = engineTables
  const due = deadlineKey(5, 'x')
  t.equal(await seen(rows, answers, 'command'), undefined)
  await put(rows, answers, 'command', { answer: 1, offset: 1 })
  await put(rows, deadlines, due, true)
  await commit(rows, digest)
  t.same(await seen(rows, answers, 'command'), { answer: 1, offset: 1 })
  t.equal(await seen(rows, deadlines, due), true)
  await put(rows, deadlines, due, undefined)
  await commit(rows, digest)
  t.equal(await seen(rows, deadlines, due), undefined, 'a deadline disarmed stays disarmed')
})

t.test('a failed read leaves nothing behind: the next one asks the store again', async (t) => {
  const { rows, store, digest } = await newRows(0)
  await put(rows, counts, 'a', row(7))
  await commit(rows, digest)
  let fails = true
  rows.replaceStore({ ...store, getMany: (keys) => (fails ? Promise.reject(new Error('down')) : store.getMany(keys)) })
  await t.rejects(rows.load([{ table: counts, key: 'a' }]), { message: 'down' })
  fails = false
  t.same(await seen(rows, counts, 'a'), row(7))
})

t.test('a row loaded while its commit ends is the committed one', async (t) => {
  const { rows, store, digest } = await newRows(0)
  await put(rows, counts, 'a', row(1))
  await commit(rows, digest)
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  rows.replaceStore({ ...store, getMany: (keys) => held.then(() => store.getMany(keys)) })
  await put(rows, totals, 'all', { total: 1 })
  const loading = rows.load([
    { table: counts, key: 'a' },
    { table: counts, key: 'b' },
  ])
  const operations = frozen(rows, digest)
  await store.write(operations)
  rows.finishCommit()
  release()
  await loading
  t.same(rows.get(rows.state(counts), 'a'), row(1))
  t.equal(rows.get(rows.state(counts), 'b'), undefined)
})

t.test('a query sees a row through its whole way from change to store', async (t) => {
  const { rows, store, digest } = await newRows(0)
  const state = rows.state(counts)
  await put(rows, counts, 'a', row(1))
  t.same(await rows.readMany(state, ['a', 'b']), [row(1), undefined], 'changed')
  const operations = frozen(rows, digest)
  t.same(await rows.readMany(state, ['b', 'a']), [undefined, row(1)], 'being committed')
  // The query starts before the write, and the commit ends under it.
  const before = store.getMany([Buffer.from('x')])
  const reading = rows.read(state, 'a')
  await store.write(operations)
  rows.finishCommit()
  await before
  t.same(await reading, row(1))
  t.same(await rows.readMany(state, ['a', 'b']), [row(1), undefined], 'in the store')
  await put(rows, counts, 'a', undefined)
  t.same(await rows.readMany(state, ['a']), [undefined], 'deleted')
})

/** What a random run does; keys are few, so that they meet. */
type Step =
  | { readonly kind: 'event'; readonly puts: readonly (readonly [string, number | null])[]; readonly reverted: boolean }
  | { readonly kind: 'endSegment' | 'freeze' | 'finish' | 'failedLoad' }

const keys = ['a', 'b', 'ä', 'c/d', '\uffff', '😀']
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('event' as const),
      puts: fc.array(fc.tuple(fc.constantFrom(...keys), fc.option(fc.nat({ max: 3 }))), { maxLength: 4 }),
      reverted: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom('endSegment', 'freeze', 'finish', 'failedLoad').map((kind) => ({ kind })),
  },
)

t.test('whatever happens in whatever order: rows, index, scans and digest are those of plain maps', async () => {
  const run = async (steps: readonly Step[], cacheBytes: number): Promise<void> => {
    const { rows, store, digest } = await newRows(cacheBytes)
    const model = new Map<string, CountRow>()
    const resident = new Map<string, { total: number }>()
    const armed = new Set<string>()
    const counted = rows.state(counts)
    const { deadlines } = engineTables
    let committing: readonly WriteOperation[] | undefined
    const references = keys.flatMap((key) => [
      { table: counts, key },
      { table: deadlines, key },
    ])
    const finish = async (): Promise<void> => {
      if (committing === undefined) return
      await store.write(committing)
      rows.finishCommit()
      committing = undefined
    }
    const check = async (): Promise<void> => {
      assert.deepEqual(
        await rows.readMany(counted, keys),
        keys.map((key) => model.get(key)),
      )
      const ordered = [...model].sort(([a], [b]) => Buffer.from(a).compare(Buffer.from(b)))
      assert.deepEqual(await all(scanRows(rows, counted, {})), ordered)
      const entries = ordered.flatMap(([key, value]) => counts.indexes?.byCount?.entries(key, value) ?? [])
      assert.deepEqual(
        await all(scanIndex(rows, counted, 'byCount', {})),
        entries.map(({ key }) => ({ key, value: '' })).sort((a, b) => Buffer.from(a.key).compare(Buffer.from(b.key))),
      )
    }
    for (const step of steps) {
      if (step.kind === 'endSegment') rows.endSegment()
      if (step.kind === 'finish') await finish()
      if (step.kind === 'freeze' && committing === undefined) committing = frozen(rows, digest)
      if (step.kind === 'failedLoad') {
        rows.endSegment()
        rows.replaceStore({ ...store, getMany: () => Promise.reject(new Error('down')) })
        await rows.load(references).catch(() => undefined)
        rows.replaceStore(store)
      }
      if (step.kind === 'event') {
        await rows.load(references)
        rows.beginEvent()
        const after = new Map(model)
        const residentAfter = new Map(resident)
        const armedAfter = new Set(armed)
        for (const [key, count] of step.puts) {
          assert.deepEqual(rows.get(counted, key), after.get(key))
          assert.equal(rows.get(rows.state(deadlines), key), armedAfter.has(key) ? true : undefined)
          rows.put(counted, key, count === null ? undefined : row(count))
          rows.put(rows.state(totals), key, count === null ? undefined : { total: count })
          rows.put(rows.state(deadlines), key, count === null ? undefined : true)
          if (count === null) {
            after.delete(key)
            residentAfter.delete(key)
            armedAfter.delete(key)
          } else {
            after.set(key, row(count))
            residentAfter.set(key, { total: count })
            armedAfter.add(key)
          }
        }
        if (step.reverted) {
          rows.revert()
        } else {
          replaceAll(model, after)
          replaceAll(resident, residentAfter)
          armed.clear()
          for (const key of armedAfter) armed.add(key)
        }
      }
      await check()
    }
    rows.endSegment()
    await finish()
    await commit(rows, digest)
    await check()
    await checkStore(rows, digest, model, resident, armed)
  }
  await fc.assert(fc.asyncProperty(fc.array(stepOf, { maxLength: 25 }), fc.constantFrom(0, 400, CACHE_BYTES), run), {
    seed: 8,
    numRuns: 400,
  })
})

/** The store alone, read as a restart reads it. */
async function checkStore(
  rows: RowStore,
  digest: StoreDigest,
  model: ReadonlyMap<string, CountRow>,
  resident: ReadonlyMap<string, object>,
  armed: ReadonlySet<string>,
): Promise<void> {
  const again = new RowStore(rows.store, countingProcessor.tables, 0)
  await again.loadResident()
  assert.deepEqual(
    new Map(again.state(totals).resident),
    new Map([...resident].sort(([a], [b]) => Buffer.from(a).compare(Buffer.from(b)))),
  )
  assert.deepEqual(
    await again.readMany(again.state(engineTables.deadlines), keys),
    keys.map((key) => (armed.has(key) ? true : undefined)),
  )
  const recomputed = createStoreDigest()
  const entries = new Set<string>()
  for (const { runtime } of again.tables) {
    if (!runtime.digested) continue
    for (const [key, value] of await all(rows.store.entries(prefixRange(runtime.prefix)))) {
      recomputed.add(key, value)
      const derived = indexChanges(runtime, key.toString('utf8', 1), undefined, runtime.table.codec.decode(value))
      for (const [entry] of derived) entries.add(entry)
    }
    for (const { prefix } of runtime.indexes) {
      const stored = (await all(rows.store.texts(prefixRange(prefix)))).map(([key]) => key)
      assert.deepEqual(new Set(stored), entries, 'index entries are those of the rows')
    }
  }
  assert.equal(digest.rows.toHex(), recomputed.rows.toHex())
  assert.equal(digest.withoutPositions.toHex(), recomputed.withoutPositions.toHex())
  assert.equal(model.size, (await all(rows.store.entries(prefixRange(again.state(counts).runtime.prefix)))).length)
}

function replaceAll<K, V>(map: Map<K, V>, by: ReadonlyMap<K, V>): void {
  map.clear()
  for (const [key, value] of by) map.set(key, value)
}

async function all<E>(pages: AsyncIterable<readonly E[]>): Promise<E[]> {
  const found: E[] = []
  for await (const page of pages) found.push(...page)
  return found
}
