import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { storeContract } from '../store-contract.js'
import { rocksDbProvider } from './provider.js'

t.test('contract', (t) => {
  storeContract(t, (t) => rocksDbProvider({ directory: t.testdir() }))
  t.end()
})

t.test('contract, with a memtable so small that tables are written all the time', (t) => {
  storeContract(t, (t) => rocksDbProvider({ directory: t.testdir(), writeBufferBytes: 64 * 1024 }))
  t.end()
})

t.test('three set-aside stores are kept', async (t) => {
  const directory = t.testdir()
  const provider = rocksDbProvider({ directory })
  for (let i = 1; i <= 12; i++) {
    await (await provider.open('store')).close()
    await provider.setAside('store', i % 2 === 0 ? 'Digest differs: at 17/../x' : '…')
  }
  mkdirSync(join(directory, 'store-2.set-aside-1-other'))
  t.same(readdirSync(directory).sort(), [
    'store-2.set-aside-1-other',
    'store.set-aside-10-digest-differs-at-17-x',
    'store.set-aside-11-unknown',
    'store.set-aside-12-digest-differs-at-17-x',
  ])
})

t.test("a store's name cannot leave the directory", async (t) => {
  const provider = rocksDbProvider({ directory: t.testdir() })
  for (const name of ['', '.', '..', '../other', 'a/b', '/tmp', 'a\0b']) {
    await t.rejects(provider.open(name), TypeError, JSON.stringify(name))
    await t.rejects(provider.setAside(name, 'any'), TypeError)
  }
})

t.test('a directory that is not there yet is made, with all above it', async (t) => {
  const directory = join(t.testdir(), 'not', 'there', 'yet')
  const store = await rocksDbProvider({ directory }).open('store')
  t.equal(store.location, join(directory, 'store'))
  t.ok(existsSync(join(directory, 'store', 'CURRENT')))
  t.notOk(existsSync(join(directory, 'store', 'LOG')), "RocksDB's own log file is off")
  await store.close()
})
