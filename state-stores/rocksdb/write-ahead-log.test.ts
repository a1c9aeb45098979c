import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { seededRandom } from '../../common/random.js'
import { rocksDbProvider } from './provider.js'
import { findLogDamage } from './write-ahead-log.js'

const SEED = 7
const LAST_WRITE_BYTES = 4000

const directory = t.testdir()
const location = join(directory, 'store')
const store = await rocksDbProvider({ directory }).open('store')
for (let i = 0; i < 150; i++) {
  await store.write([{ key: Buffer.from(`key-${i}`), value: Buffer.alloc(i * 20, 65 + (i % 26)) }], { sync: true })
}
await store.close()
const name = readdirSync(location).find((one) => one.endsWith('.log')) ?? ''
const intact = readFileSync(join(location, name))

t.test('a write-ahead log that is whole, cut anywhere or zero behind there lacks nothing in its middle', (t) => {
  t.ok(intact.length > 4 * 32 * 1024, 'it has several blocks')
  t.equal(findLogDamage(intact), undefined)
  const wrong: number[] = []
  for (let length = 0; length < intact.length; length += 997) {
    const zeroed = Buffer.concat([intact.subarray(0, length), Buffer.alloc(intact.length - length)])
    if (findLogDamage(intact.subarray(0, length)) !== undefined || findLogDamage(zeroed) !== undefined)
      wrong.push(length)
  }
  t.same(wrong, [])
  t.end()
})

t.test(`a flipped bit before the last write is found, wherever it is (seed ${SEED})`, (t) => {
  const random = seededRandom(SEED)
  for (let flip = 0; flip < 200; flip++) {
    const at = Math.floor(random() * (intact.length - LAST_WRITE_BYTES))
    const bytes = Buffer.from(intact)
    bytes[at]! ^= 1 << Math.floor(random() * 8)
    const found = findLogDamage(bytes)
    t.ok(found !== undefined && found <= at && at - found < 32 * 1024, `byte ${at}, found at ${found}`)
  }
  t.end()
})

t.test('a store that is the truth is not opened over lost writes; one that follows from elsewhere is', async (t) => {
  const bytes = Buffer.from(intact)
  bytes[1000]! ^= 1
  writeFileSync(join(location, name), bytes)
  const stores = rocksDbProvider({ directory })
  const message = new RegExp(`writes are lost from byte \\d+ of ${name} on`)
  await t.rejects(stores.open('store', { verifyWrites: true }), { code: 'STORE_CORRUPT', message })
  t.same(readFileSync(join(location, name)), bytes, 'and it is as it was')
  const older = await stores.open('store')
  const rows = await older.getMany(Array.from({ length: 150 }, (_, i) => Buffer.from(`key-${i}`)))
  t.ok(rows.includes(undefined), 'RocksDB says nothing of what is missing')
  await older.close()
})
