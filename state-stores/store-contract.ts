import { deepStrictEqual } from 'node:assert'
import fc from 'fast-check'
import type { Test } from 'tap'
import { isInRange } from './key-range.js'
import type { Entry, KeyRange, KeyValueStore, StoreProvider, WriteOperation } from './key-value-store.js'
import { storeLifetimeContract } from './store-lifetime-contract.js'

/** What a contract needs of a driver: a provider whose stores are empty at first, and gone after the test. */
export type ProviderFactory = (t: Test) => StoreProvider

/** The tests that every driver of the store port runs: what is read is what was written, and `storeLifetimeContract`. */
export function storeContract(t: Test, createProvider: ProviderFactory): void {
  const testStore = (name: string, test: (t: Test, store: KeyValueStore) => Promise<void>): void => {
    void t.test(name, async (t) => {
      const store = await createProvider(t).open('store')
      await test(t, store)
      t.equal(store.openIterators, 0, 'no iterator is left open')
      await store.close()
    })
  }

  testStore('an absent key is undefined, an empty value is not', async (t, store) => {
    await store.write([put('a', '')])
    t.same(await store.get(bytes('a')), Buffer.alloc(0))
    t.equal(await store.get(bytes('b')), undefined)
    t.same(await readTexts(store), [['a', '']])
  })

  testStore('getMany answers in the order of the keys, repeated and absent ones too', async (t, store) => {
    await store.write([put('a', '1'), put('b', '2')])
    const values = await store.getMany(['b', 'x', 'a', 'b'].map(bytes))
    t.same(
      values.map((value) => value?.toString()),
      ['2', undefined, '1', '2'],
    )
    t.same(await store.getMany([]), [])
  })

  testStore('keys and values are any bytes, ordered as unsigned ones', async (t, store) => {
    const keys = ['ff', '00', '00ff', '0000', '7f', '80', 'ff00', 'ffff', 'c328'].map((hex) => Buffer.from(hex, 'hex'))
    await store.write(keys.map((key) => ({ key, value: key })))
    const entries = await readEntries(store)
    t.same(
      entries.map(([key]) => key.toString('hex')),
      ['00', '0000', '00ff', '7f', '80', 'c328', 'ff', 'ff00', 'ffff'],
    )
    t.ok(entries.every(([key, value]) => key.equals(value)))
    for (const key of keys) t.same(await store.get(key), key)
  })

  testStore('texts of several bytes a character are decoded, in the order of their bytes', async (t, store) => {
    const names = ['😀', '\uffff', 'é', 'z', '€ 100', 'Ωmega']
    await store.write(names.map((name) => put(name, `${name}→${name}`)))
    const expected = ['z', 'é', 'Ωmega', '€ 100', '\uffff', '😀'].map((name) => [name, `${name}→${name}`])
    t.same(await readTexts(store), expected)
    t.same(
      (await readEntries(store)).map((entry) => entry.map(String)),
      expected,
    )
  })

  testStore('a value of 3 MB', async (t, store) => {
    const value = Buffer.alloc(3_000_000, 'pulse')
    await store.write([{ key: bytes('big'), value }, put('small', 's')])
    t.ok((await store.get(bytes('big')))?.equals(value))
    t.ok((await readEntries(store))[0]?.[1].equals(value))
  })

  testStore('within a batch the last change of a key stands', async (t, store) => {
    await store.write([put('a', '1'), put('b', '1')])
    await store.write([put('a', '2'), del('a'), del('b'), put('b', '2'), put('c', '1'), put('c', '2'), del('never')])
    t.same(await readTexts(store), [
      ['b', '2'],
      ['c', '2'],
    ])
    await store.write([])
    t.equal((await readTexts(store)).length, 2)
  })

  testStore('writes take effect in the order of the calls, awaited or not', async (t, store) => {
    const writes = Array.from({ length: 200 }, (_, i) => store.write([put('a', String(i))], { sync: i % 50 === 0 }))
    const cleared = store.clear({ lte: bytes('a') })
    const last = store.write([put('b', 'after')])
    await Promise.all([...writes, cleared, last])
    t.same(await readTexts(store), [['b', 'after']])
  })

  testStore('the bytes given and got are copies', async (t, store) => {
    const operation = put('key', 'value')
    const written = store.write([operation])
    operation.key.fill('x')
    operation.value?.fill('x')
    await written
    ;(await store.get(bytes('key')))?.fill('y')
    ;(await store.getMany([bytes('key')]))[0]?.fill('y')
    for (const [key, value] of await readEntries(store)) {
      key.fill('y')
      value.fill('y')
    }
    t.same(await readTexts(store), [['key', 'value']])
  })

  testStore('clear deletes the range and nothing else', async (t, store) => {
    await store.write(Array.from('abcdef').map((name) => put(name, name)))
    await store.clear({ gt: bytes('b'), lte: bytes('d') })
    t.same(await readNames(store), ['a', 'b', 'e', 'f'])
    await store.clear({ reverse: true, limit: 1 })
    t.same(await readNames(store), ['a', 'b', 'e'])
    await store.clear({ lt: Buffer.alloc(0) })
    t.same(await readNames(store), ['a', 'b', 'e'])
    await store.clear()
    t.same(await readNames(store), [])
  })

  testStore('an iteration reads the snapshot of its call', async (t, store) => {
    await store.write([put('a', '1'), put('b', '1')])
    const entries = store.entries()
    const texts = store.texts()
    await store.write([put('a', '2'), del('b'), put('c', '2')])
    t.same(
      (await collect(entries)).map((entry) => entry.map(String)),
      [
        ['a', '1'],
        ['b', '1'],
      ],
    )
    t.same(await collect(texts), [
      ['a', '1'],
      ['b', '1'],
    ])
    t.same(await readTexts(store), [
      ['a', '2'],
      ['c', '2'],
    ])
  })

  testStore('pages come in order, none is empty, and together they hold each entry once', async (t, store) => {
    for (const [count, length] of [
      [1, 10],
      [2, 10],
      [999, 10],
      [1000, 10],
      [1001, 10],
      [2001, 10],
      [700, 1000],
      [5, 100_000],
    ] as const) {
      await store.clear()
      const names = Array.from({ length: count }, (_, i) => `k${String(i).padStart(5, '0')}`)
      await store.write(names.map((name) => put(name, 'v'.repeat(length))))
      const read: string[] = []
      for await (const page of store.texts()) {
        // RocksDB's binding gives one entry first, to be quick; a page each would cost more than the entries.
        if (count > 1 && read.length === 0) t.ok(page.length > 1, `more than one of ${count} × ${length} first`)
        t.not(page.length, 0, `a page of ${count} × ${length}`)
        for (const [name, value] of page) if (value.length === length) read.push(name)
      }
      t.same(read, names, `${count} × ${length}`)
      t.same(await readNames(store, { reverse: true }), names.reverse(), `${count} × ${length} in reverse`)
    }
  })

  testStore('leaving a loop ends its iterator', async (t, store) => {
    await store.write(Array.from({ length: 3000 }, (_, i) => put(`k${i}`, 'v')))
    for await (const page of store.entries()) {
      t.ok(page.length > 0)
      t.equal(store.openIterators, 1)
      break
    }
    t.equal(store.openIterators, 0)
    const failing = async (): Promise<void> => {
      for await (const _page of store.texts()) throw new Error('in the loop')
    }
    await t.rejects(failing(), { message: 'in the loop' })
    t.equal(store.openIterators, 0)

    const iterator = store.entries()[Symbol.asyncIterator]()
    t.same(await iterator.return?.(), { done: true, value: undefined }, 'left before the first page')
    t.same(await iterator.next(), { done: true, value: undefined })
  })

  testStore('calls of one iterator that overlap are answered in turn', async (t, store) => {
    await store.write(Array.from({ length: 1500 }, (_, i) => put(`k${String(i).padStart(4, '0')}`, 'v')))
    const iterator = store.entries()[Symbol.asyncIterator]()
    const results = await Promise.all([iterator.next(), iterator.next(), iterator.next(), iterator.return?.()])
    const names = results
      .flatMap((result) => (result?.done === false ? result.value : []))
      .map(([key]) => key.toString())
    t.equal(names.length, 1500)
    t.same(names, [...names].sort())
  })

  testStore('an empty key is a programming error', async (t, store) => {
    const empty = Buffer.alloc(0)
    const error = { name: 'TypeError', message: /at least one byte/ }
    await t.rejects(store.get(empty), error)
    await t.rejects(store.getMany([bytes('a'), empty]), error)
    await t.rejects(store.write([put('a', '1'), { key: empty, value: null }]), error)
    const noValue = { key: bytes('b'), value: undefined as never }
    await t.rejects(store.write([put('a', '1'), noValue]), { name: 'TypeError', message: /a value must be/ })
    await store.write([put('c', '1')])
    t.same(await readNames(store), ['c'], 'nothing of the refused batches was written')
    await t.rejects(store.get('text' as never), { name: 'TypeError', message: /Buffer/ })
    for (const limit of [-1, 1.5, NaN]) {
      t.throws(() => store.entries({ limit }), { name: 'TypeError', message: /whole number/ })
      t.throws(() => store.texts({ limit }), TypeError)
      await t.rejects(store.clear({ limit }), TypeError)
    }
  })

  void t.test('any range of any content, forwards and backwards, is that of a sorted list', async (t) => {
    const store = await createProvider(t).open('store')
    // Bytes at the edges, so that bounds are often keys, neighbours of keys, or empty.
    const key = fc
      .array(fc.constantFrom(0, 1, 0x61, 0x7f), { minLength: 1, maxLength: 3 })
      .map((list) => Buffer.from(list))
    const bound = fc.oneof({ arbitrary: key, weight: 5 }, { arbitrary: fc.constant(Buffer.alloc(0)), weight: 1 })
    const bounds = fc.record({ gte: bound, gt: bound, lt: bound, lte: bound }, { requiredKeys: [] })
    const order = fc.record({ reverse: fc.boolean(), limit: fc.nat({ max: 8 }) }, { requiredKeys: [] })
    const content = fc.uniqueArray(key, { maxLength: 25, selector: (each) => each.toString('latin1') })

    await fc.assert(
      fc.asyncProperty(content, fc.array(fc.tuple(bounds, order), { maxLength: 5 }), async (keys, ranges) => {
        await store.clear()
        await store.write(keys.map((each) => ({ key: each, value: each })))
        const sorted = [...keys].sort((a, b) => a.compare(b))
        for (const [between, { reverse = false, limit }] of ranges) {
          const found = sorted.filter((each) => isInRange(each, between))
          const expected = (reverse ? found.reverse() : found).slice(0, limit).map((each) => each.toString())
          const range: KeyRange = { ...between, reverse, ...(limit === undefined ? {} : { limit }) }
          deepStrictEqual(await readNames(store, range), expected)
          deepStrictEqual(
            (await readEntries(store, range)).map(([each]) => each.toString()),
            expected,
          )
        }
      }),
      { numRuns: 150 },
    )
    t.equal(store.openIterators, 0)
    await store.close()
  })

  storeLifetimeContract(t, createProvider)
}

export const bytes = (text: string): Buffer => Buffer.from(text)
export const put = (key: string, value: string): WriteOperation => ({ key: bytes(key), value: bytes(value) })
export const del = (key: string): WriteOperation => ({ key: bytes(key), value: null })

export async function collect<E>(pages: AsyncIterable<readonly E[]>): Promise<E[]> {
  const all: E[] = []
  for await (const page of pages) all.push(...page)
  return all
}

export function readEntries(store: KeyValueStore, range?: KeyRange): Promise<Entry[]> {
  return collect(store.entries(range))
}

export async function readTexts(store: KeyValueStore, range?: KeyRange): Promise<string[][]> {
  return (await collect(store.texts(range))).map((entry) => [...entry])
}

export async function readNames(store: KeyValueStore, range?: KeyRange): Promise<string[]> {
  return (await collect(store.texts(range))).map(([name]) => name)
}
