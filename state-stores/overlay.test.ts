import { deepStrictEqual as deepEqual, strictEqual as equal } from 'node:assert'
import fc from 'fast-check'
import t from 'tap'
import { isInRange } from './key-range.js'
import type { KeyRange } from './key-value-store.js'
import { memoryProvider } from './memory/provider.js'
import { compareText, entriesOver, textsOver } from './overlay.js'
import type { Overlay } from './overlay.js'

// Behind U+FFFF in UTF-8, before U+E000 in UTF-16: the order of bytes and of JavaScript's strings differ.
const letters = ['a', 'b', 'ß', '€', '\ue000', '\uffff', '😀']
const text = fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 3 }).map((parts) => parts.join(''))
const rows = fc.dictionary(text, text, { maxKeys: 20 })
const changes = fc.dictionary(text, fc.option(text), { maxKeys: 20 })
const bound = fc.option(
  text.map((each) => Buffer.from(each)),
  { nil: undefined },
)
const range = fc.record(
  { gte: bound, gt: bound, lt: bound, lte: bound, reverse: fc.boolean(), limit: fc.nat({ max: 12 }) },
  { requiredKeys: [] },
)

async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const page of pages) all.push(...page)
  return all
}

function sortedBytes<T>(record: Record<string, T>): (readonly [Buffer, T])[] {
  return Object.entries(record)
    .map(([key, value]) => [Buffer.from(key), value] as const)
    .sort((a, b) => a[0].compare(b[0]))
}

t.test('a store with changes on it reads as the store after the commit', async (t) => {
  const provider = memoryProvider()
  await fc.assert(
    fc.asyncProperty(rows, changes, range, async (before, changed, wanted) => {
      provider.destroy('store')
      const store = await provider.open('store')
      await store.write(sortedBytes(before).map(([key, value]) => ({ key, value: Buffer.from(value) })))
      const overlay: Overlay = sortedBytes(changed).map(([key, value]) => [
        key,
        value === null ? null : Buffer.from(value),
      ])
      const { gte, gt, lt, lte } = wanted
      const keyRange = { ...wanted, ...defined({ gte, gt, lt, lte }) } as KeyRange

      const after = sortedBytes({ ...before, ...changed }).filter(
        (row): row is readonly [Buffer, string] => row[1] !== null && isInRange(row[0], keyRange),
      )
      if (wanted.reverse === true) after.reverse()
      const expected = after.slice(0, wanted.limit).map(([key, value]) => [key.toString(), value])

      const entries = await collect(entriesOver(store, overlay, keyRange))
      const texts = await collect(textsOver(store, overlay, keyRange))
      deepEqual(
        entries.map(([key, value]) => [key.toString(), value.toString()]),
        expected,
      )
      deepEqual(texts, expected)
      equal(store.openIterators, 0)
    }),
    { numRuns: 300 },
  )
  t.pass()
})

function defined(bounds: Record<string, Buffer | undefined>): Record<string, Buffer> {
  return Object.fromEntries(Object.entries(bounds).filter((entry): entry is [string, Buffer] => entry[1] !== undefined))
}

t.test('texts are ordered as their bytes', async (t) => {
  fc.assert(fc.property(text, text, (a, b) => Math.sign(compareText(a, b)) === Buffer.from(a).compare(Buffer.from(b))))
  t.equal(compareText('a', 'a'), 0)
})

t.test('a limit behind many deletes is still filled', async (t) => {
  const store = await memoryProvider().open('store')
  const keys = Array.from({ length: 3000 }, (_, i) => Buffer.from(`k${String(i).padStart(4, '0')}`))
  await store.write(keys.map((key) => ({ key, value: key })))
  const overlay: Overlay = keys.slice(0, 2500).map((key) => [key, null])
  const [page, ...more] = await collect(entriesOver(store, overlay, { limit: 2 }))
  t.equal(page?.[0].toString(), 'k2500')
  t.equal(more.length, 1)
})

t.test('leaving the loop ends the iterator of the store', async (t) => {
  const store = await memoryProvider().open('store')
  await store.write([{ key: Buffer.from('a'), value: Buffer.from('b') }])
  for await (const page of entriesOver(store, [[Buffer.from('b'), Buffer.from('c')]])) {
    t.equal(page.length, 1)
    t.equal(store.openIterators, 1)
    break
  }
  t.equal(store.openIterators, 0)
})
