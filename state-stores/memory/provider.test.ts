import t from 'tap'
import { put, readNames, readTexts, storeContract } from '../store-contract.js'
import { memoryProvider } from './provider.js'

t.test('contract', (t) => {
  storeContract(t, () => memoryProvider())
  t.end()
})

t.test('a crash closes the store at once and keeps what was written', async (t) => {
  const provider = memoryProvider()
  const store = await provider.open('store')
  await store.write([put('a', '1')])
  const underWay = store.write([put('b', '1')])
  provider.crash('store')
  await t.rejects(underWay, { code: 'STORE_CLOSED' })
  await t.rejects(store.get(Buffer.from('a')), { code: 'STORE_CLOSED' })
  await t.rejects(store.write([put('c', '1')]), { code: 'STORE_CLOSED' })
  await t.rejects(readTexts(store), { code: 'STORE_CLOSED' })

  const next = await provider.open('store')
  t.same(await readTexts(next), [['a', '1']])
  await store.close()
  await t.rejects(provider.open('store'), { code: 'STORE_IN_USE' }, 'closing the crashed one does not free the next')
  await next.close()
})

t.test('a loss of power takes back what was written since the last synced write', async (t) => {
  const provider = memoryProvider()
  const store = await provider.open('store')
  await store.write([put('a', '1'), put('b', '1')])
  await store.write([put('c', '1')], { sync: true })
  await store.write([put('a', '2'), { key: Buffer.from('b'), value: null }, put('d', '1')])
  await store.write([put('a', '3')])
  await store.clear({ gte: Buffer.from('c') })
  provider.losePower('store')
  t.same(await readTexts(await provider.open('store')), [
    ['a', '1'],
    ['b', '1'],
    ['c', '1'],
  ])
})

t.test('a destroyed store is empty at the next open', async (t) => {
  const provider = memoryProvider()
  const store = await provider.open('store')
  await store.write([put('a', '1')], { sync: true })
  provider.destroy('store')
  t.same(await readTexts(await provider.open('store')), [])
})

t.test('a failed write leaves nothing, and later ones are refused until the store is opened anew', async (t) => {
  const provider = memoryProvider()
  const store = await provider.open('store')
  await store.write([put('a', '1')])
  provider.failWrites('store')
  await t.rejects(store.write([put('b', '1')]), { code: 'STORE_WRITE_FAILED', retryable: true })
  await t.rejects(store.write([put('c', '1')]), { code: 'STORE_WRITE_FAILED' })
  await t.rejects(store.clear(), { code: 'STORE_WRITE_FAILED' })
  t.same(await readNames(store), ['a'], 'reads go on')
  await store.close()
  const reopened = await provider.open('store')
  await reopened.write([put('d', '1')])
  t.same(await readNames(reopened), ['a', 'd'])
})

t.test('failed reads are damage, of any method that reads', async (t) => {
  const provider = memoryProvider()
  const store = await provider.open('store')
  await store.write([put('a', '1')])
  provider.failReads('store', 3)
  await t.rejects(store.get(Buffer.from('a')), { code: 'STORE_CORRUPT' })
  await t.rejects(store.getMany([Buffer.from('a')]), { code: 'STORE_CORRUPT' })
  await t.rejects(readNames(store), { code: 'STORE_CORRUPT' })
  t.same(await readNames(store), ['a'])
  t.equal(store.openIterators, 0)
})

t.test('a damaged store does not open until it is set aside', async (t) => {
  const provider = memoryProvider()
  await (await provider.open('store')).close()
  provider.corrupt('store')
  await t.rejects(provider.open('store'), { code: 'STORE_CORRUPT', details: { location: 'store' } })
  await provider.setAside('store', 'corrupt')
  t.same(await readNames(await provider.open('store')), [])
})

t.test('60,000 keys in any order are kept sorted', async (t) => {
  const store = await memoryProvider().open('store')
  const names = Array.from({ length: 60_000 }, (_, i) => `k${String((i * 7919) % 60_000).padStart(5, '0')}`)
  for (let i = 0; i < names.length; i += 1000) await store.write(names.slice(i, i + 1000).map((name) => put(name, 'v')))
  t.same(await readNames(store, { gt: Buffer.from('k41998'), limit: 3 }), ['k41999', 'k42000', 'k42001'])
  t.equal((await readNames(store)).join(), names.sort().join())
  await store.clear({ gte: Buffer.from('k00010'), lt: Buffer.from('k59990') })
  t.equal((await readNames(store)).length, 20)
})
