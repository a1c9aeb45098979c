import { cpSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { seededRandom } from '../../common/random.js'
import type { StoreProvider } from '../key-value-store.js'
import { bytes, readEntries, readTexts } from '../store-contract.js'
import { inspectDirectory } from './inspect-directory.js'
import { openError } from './native-error.js'
import { rocksDbProvider } from './provider.js'
import { checkRows, rowName, writeRows } from './rows.js'

const writeBufferBytes = 64 * 1024

/** A closed store of 2,000 rows, written by two owners one after the other. */
async function writtenStore(t: Test): Promise<{ directory: string; location: string; provider: StoreProvider }> {
  const directory = t.testdir()
  const provider = rocksDbProvider({ directory, writeBufferBytes })
  for (const from of [0, 1000]) {
    const store = await provider.open('store')
    await writeRows(store, 1000, from)
    await store.close()
  }
  return { directory, location: join(directory, 'store'), provider }
}

const newest = (location: string, name: RegExp): string =>
  join(
    location,
    readdirSync(location)
      .filter((file) => name.test(file))
      .sort()
      .at(-1) ?? 'none',
  )

t.test('RS-05 a write-ahead log cut at any place leaves the rows of whole batches, and their position', async (t) => {
  const { location, provider } = await writtenStore(t)
  const log = newest(location, /\.log$/)
  for (const share of [0.99, 0.6, 0.3, 0]) {
    truncateSync(log, Math.floor(statSync(log).size * share))
    const copy = `copy-${share}`
    cpSync(location, join(location, '..', copy), { recursive: true })
    const store = await provider.open(copy)
    const count = await checkRows(t, store)
    t.ok(count > 0 && count < 2000, `${count} rows are left at ${share}`)
    await writeRows(store, 10, count)
    await store.close()
    const reopened = await provider.open(copy)
    t.equal(await checkRows(t, reopened), count + 10)
    await reopened.close()
  }
})

t.test('RS-07 a store whose files are damaged does not open, is set aside, and the next is empty', async (t) => {
  const damages: Record<string, (location: string) => void> = {
    'a: MANIFEST cut to half': (location) => {
      const manifest = newest(location, /^MANIFEST/)
      truncateSync(manifest, statSync(manifest).size >> 1)
    },
    'a: MANIFEST emptied': (location) => truncateSync(newest(location, /^MANIFEST/), 0),
    'a: MANIFEST gone': (location) => rmSync(newest(location, /^MANIFEST/)),
    'b: CURRENT emptied': (location) => truncateSync(join(location, 'CURRENT'), 0),
    'c: CURRENT gone': (location) => rmSync(join(location, 'CURRENT')),
    'c: CURRENT names another file': (location) => writeFileSync(join(location, 'CURRENT'), 'MANIFEST-999999\n'),
  }
  for (const [name, damage] of Object.entries(damages)) {
    t.test(`RS-07 ${name}`, async (t) => {
      const { location, provider } = await writtenStore(t)
      damage(location)
      const files = readdirSync(location)
      await t.rejects(provider.open('store'), { code: 'STORE_CORRUPT', details: { location } })
      await t.rejects(provider.open('store'), { code: 'STORE_CORRUPT' }, 'again: nothing fresh was made in its place')
      const tables = (list: string[]): string[] => list.filter((file) => /\.(sst|log)$/.test(file))
      t.same(tables(readdirSync(location)), tables(files), 'no data file was deleted')

      const target = await provider.setAside('store', 'STORE_CORRUPT')
      t.equal(target, `${location}.set-aside-1-store-corrupt`)
      t.same(tables(readdirSync(target)), tables(files))
      const store = await provider.open('store')
      t.equal(await checkRows(t, store), 0)
      await store.close()
    })
  }
})

t.test('RS-07 a a MANIFEST cut anywhere is found, or nothing is missing', async (t) => {
  const { location, provider } = await writtenStore(t)
  const size = statSync(newest(location, /^MANIFEST/)).size
  let found = 0
  for (let length = 0; length < size; length += Math.ceil(size / 40)) {
    const copy = join(location, '..', 'copy')
    rmSync(copy, { recursive: true, force: true })
    cpSync(location, copy, { recursive: true })
    truncateSync(newest(copy, /^MANIFEST/), length)
    try {
      const store = await provider.open('copy')
      await checkRows(t, store)
      await store.close()
    } catch (error) {
      t.match(error, { code: 'STORE_CORRUPT' })
      found++
    }
  }
  t.ok(found > 10, `${found} were found`)
})

t.test('RS-07 d a plain file in place of the directory is named, and stays', async (t) => {
  const directory = t.testdir({ store: 'a plain file' })
  const location = join(directory, 'store')
  const error = { code: 'STORE_NOT_A_DIRECTORY', details: { location } }
  await t.rejects(rocksDbProvider({ directory }).open('store'), error)
  await t.rejects(rocksDbProvider({ directory }).setAside('store', 'any'), error)
  await t.rejects(rocksDbProvider({ directory: location }).open('store'), { code: 'STORE_NOT_A_DIRECTORY' })
  t.equal(readFileSync(location, 'utf8'), 'a plain file')
})

t.test('a directory that the system does not give is told as such, neither as damage nor as in use', async (t) => {
  const location = '/data/log'
  const refused: readonly (readonly [message: string, code: string, text: RegExp])[] = [
    // Node's own word for a directory in a read-only file system.
    [
      "ENOENT: no such file or directory, mkdir '/data'",
      'STORE_UNAVAILABLE',
      /\/data\/log cannot be made: .* read-only/,
    ],
    ["EACCES: permission denied, mkdir '/data/log'", 'STORE_UNAVAILABLE', /permission denied/],
    [
      `IO error: While open a file for lock: ${location}/LOCK: Read-only file system`,
      'STORE_WRITE_FAILED',
      /Read-only/,
    ],
    [`IO error: While open a file for lock: ${location}/LOCK: Permission denied`, 'STORE_UNAVAILABLE', /denied/],
    [`IO error: While lock file: ${location}/LOCK: Resource temporarily unavailable`, 'STORE_IN_USE', /LOCK/],
    ["ENOENT: no such file or directory, scandir '/data/log'", 'STORE_CORRUPT', /scandir/],
  ]
  for (const [message, code, text] of refused) {
    t.match(openError(location, new Error(message)), { code, message: text, details: { location } }, message)
  }
})

t.test('a table that cannot be read is damage, never absence', async (t) => {
  const damages: Record<string, (table: string) => void> = {
    cut: (table) => truncateSync(table, statSync(table).size - 100),
    gone: (table) => rmSync(table),
    overwritten: (table) => writeFileSync(table, Buffer.alloc(statSync(table).size, 0xff)),
  }
  for (const [name, damage] of Object.entries(damages)) {
    t.test(name, async (t) => {
      const { location, provider } = await writtenStore(t)
      damage(newest(location, /\.sst$/))
      const store = await provider.open('store').catch((error: unknown) => t.match(error, { code: 'STORE_CORRUPT' }))
      if (typeof store !== 'object') return
      await t.rejects(readEntries(store), { code: 'STORE_CORRUPT' })
      await t.rejects(readTexts(store), { code: 'STORE_CORRUPT' })
      const names = Array.from({ length: 100 }, (_, i) => bytes(rowName(i * 20)))
      await t.rejects(store.getMany(names), { code: 'STORE_CORRUPT' })
      const reads = await Promise.allSettled(names.map((each) => store.get(each)))
      t.ok(reads.some(({ status }) => status === 'rejected'))
      t.notOk(reads.some((read) => read.status === 'fulfilled' && read.value === undefined))
      t.equal(store.openIterators, 0)
      await store.close()
    })
  }
})

const SEED = 3
const FLIPS = 300

t.test(`RS-05 a flipped byte anywhere in a table is found before the store is opened (seed ${SEED})`, async (t) => {
  const { directory, location, provider } = await writtenStore(t)
  const isTable = (name: string): boolean => name.endsWith('.sst')
  const store = await provider.open('store', { verify: true })
  while (readdirSync(location).filter(isTable).length < 5) await writeRows(store, 1000)
  await store.close()
  const intact = await provider.open('store', { verify: true })
  await intact.verify()
  await intact.close()
  // Others may be there that were compacted away.
  const { tables } = await inspectDirectory(location)
  const random = seededRandom(SEED)
  const oneOf = (count: number): number => Math.floor(random() * count)
  for (let flip = 0; flip < FLIPS; flip++) {
    const table = `${String(tables[oneOf(tables.length)]?.number).padStart(6, '0')}.sst`
    const content = readFileSync(join(location, table))
    // Each of those behind the blocks, which no checksum covers, too.
    const at = flip < 53 ? content.length - 1 - flip : oneOf(content.length)
    const mask = 1 + oneOf(255)
    content[at] = (content[at] ?? 0) ^ mask
    cpSync(location, join(directory, 'copy'), { recursive: true })
    writeFileSync(join(directory, 'copy', table), content)
    await t.rejects(
      provider.open('copy', { verify: true }),
      { code: 'STORE_CORRUPT', message: /^table \d+ is damaged from byte \d+ on/ },
      `byte ${at} of ${table}, ${content.length} bytes long, by ${mask}`,
    )
    rmSync(join(directory, 'copy'), { recursive: true })
  }
})

t.test('a damaged table of a store that another has open is not told: it may be changing', async (t) => {
  const { location, provider } = await writtenStore(t)
  const store = await provider.open('store')
  const table = newest(location, /\.sst$/)
  const content = readFileSync(table)
  content[100] = (content[100] ?? 0) ^ 0xff
  writeFileSync(table, content)
  await t.rejects(rocksDbProvider({ directory: join(location, '..') }).open('store', { verify: true }), {
    code: 'STORE_IN_USE',
  })
  await store.close()
})
