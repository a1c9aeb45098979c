import type { Test } from 'tap'
import type { KeyValueStore } from './key-value-store.js'
import { bytes, collect, put, readNames, readTexts } from './store-contract.js'
import type { ProviderFactory } from './store-contract.js'

/** Every method that a closed store must refuse. */
const methods: Record<string, (store: KeyValueStore) => Promise<unknown>> = {
  get: (store) => store.get(bytes('a')),
  getMany: (store) => store.getMany([bytes('a')]),
  'getMany of nothing': (store) => store.getMany([]),
  write: (store) => store.write([put('a', 'late')]),
  'write of nothing': (store) => store.write([]),
  'synced write': (store) => store.write([put('a', 'late')], { sync: true }),
  entries: (store) => collect(store.entries()),
  texts: (store) => collect(store.texts({ reverse: true, limit: 1 })),
  clear: (store) => store.clear(),
}

/** Opening, closing, and all that can be called in the wrong order. */
export function storeLifetimeContract(t: Test, createProvider: ProviderFactory): void {
  for (const [name, call] of Object.entries(methods)) {
    void t.test(`${name} is refused while a store closes and after`, async (t) => {
      const provider = createProvider(t)
      const store = await provider.open('store')
      await store.write([put('a', 'kept')])
      const closed = store.close()
      await t.rejects(call(store), { code: 'STORE_CLOSED', retryable: true, details: { location: store.location } })
      await closed
      await t.rejects(call(store), { code: 'STORE_CLOSED' })
      const reopened = await provider.open('store')
      t.same(await readTexts(reopened), [['a', 'kept']])
      await reopened.close()
    })
  }

  void t.test('closing again gives the same promise', async (t) => {
    const store = await createProvider(t).open('store')
    const first = store.close()
    t.equal(store.close(), first)
    await first
    t.equal(store.close(), first)
    await Promise.all([store.close(), store.close()])
  })

  void t.test('what was called before close is done, and open iterators are ended', async (t) => {
    const provider = createProvider(t)
    const store = await provider.open('store')
    await store.write(Array.from({ length: 5000 }, (_, i) => put(`k${String(i).padStart(4, '0')}`, 'value')))

    const begun = store.entries()[Symbol.asyncIterator]()
    t.equal((await begun.next()).done, false)
    const notBegun = store.texts()[Symbol.asyncIterator]()
    const exhausted = store.entries({ limit: 1 })[Symbol.asyncIterator]()
    await exhausted.next()
    await exhausted.next()
    const work = [
      store.get(bytes('k0001')),
      store.getMany(['k0002', 'absent'].map(bytes)),
      store.write([put('k0001', 'last')]),
      store.write([put('k0002', 'last')], { sync: true }),
      store.clear({ gte: bytes('k0003') }),
      begun.next(),
    ]
    const closed = store.close()
    const results = await Promise.allSettled(work)
    t.same(
      results.map(({ status }) => status),
      work.map(() => 'fulfilled'),
    )
    await closed
    t.equal(store.openIterators, 0)
    await t.rejects(begun.next(), { code: 'STORE_CLOSED' })
    await t.rejects(notBegun.next(), { code: 'STORE_CLOSED' })
    t.same(await exhausted.next(), { done: true, value: undefined }, 'an iterator at its end stays there')
    t.same(await begun.return?.(), { done: true, value: undefined })

    const reopened = await provider.open('store')
    t.same(await readTexts(reopened), [
      ['k0000', 'value'],
      ['k0001', 'last'],
      ['k0002', 'last'],
    ])
    await reopened.close()
  })

  void t.test('a loop over a store that closes ends with STORE_CLOSED, not early', async (t) => {
    const store = await createProvider(t).open('store')
    await store.write(Array.from({ length: 3000 }, (_, i) => put(`k${i}`, 'v'.repeat(100))))
    let pages = 0
    const loop = async (): Promise<void> => {
      for await (const _page of store.entries()) if (++pages === 1) void store.close()
    }
    await t.rejects(loop(), { code: 'STORE_CLOSED' })
    t.equal(pages, 1)
    await store.close()
    t.equal(store.openIterators, 0)
  })

  void t.test('an open store cannot be opened again or set aside, before it is closed', async (t) => {
    const provider = createProvider(t)
    const store = await provider.open('store')
    await t.rejects(provider.open('store'), { code: 'STORE_IN_USE' })
    await t.rejects(provider.setAside('store', 'damaged'), { code: 'STORE_IN_USE' })
    await store.write([put('a', '1')])
    t.same(await readNames(store), ['a'], 'the first is undisturbed')
    await store.close()
    await (await provider.open('store')).close()
  })

  void t.test('stores of one provider do not share keys', async (t) => {
    const provider = createProvider(t)
    const [first, second] = await Promise.all([provider.open('first'), provider.open('second')])
    await first.write([put('a', '1')])
    t.same(await readNames(second), [])
    await Promise.all([first.close(), second.close()])
  })

  void t.test('a store set aside is empty at the next open', async (t) => {
    const provider = createProvider(t)
    const store = await provider.open('store')
    await store.write([put('a', '1')])
    await store.close()
    const target = await provider.setAside('store', 'digest differs')
    t.match(target, /store\.set-aside-1-digest-differs$/)
    const fresh = await provider.open('store')
    t.same(await readNames(fresh), [])
    await fresh.close()
  })
}
