import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'
import type { KeyValueStore, StoreProvider } from '../key-value-store.js'
import { bytes, put, readEntries, readNames, readTexts, storeContract } from '../store-contract.js'
import { rocksDbProvider } from './provider.js'

const writeBufferBytes = 64 * 1024

t.test('contract', (t) => {
  storeContract(t, (t) => rocksDbProvider({ directory: t.testdir() }))
  t.end()
})

t.test('contract, with a memtable so small that tables are written all the time', (t) => {
  storeContract(t, (t) => rocksDbProvider({ directory: t.testdir(), writeBufferBytes }))
  t.end()
})

/** Puts `count` keys, each in one batch with the position that it brings the store to. */
async function writeRows(store: KeyValueStore, count: number, from = 0): Promise<void> {
  for (let i = from; i < from + count; i++) {
    await store.write([put(rowName(i), `${i}:${'value '.repeat(20)}`), put('position', String(i))])
  }
}

const rowName = (i: number): string => `k${String(i).padStart(6, '0')}`

/** Checks that the rows are those up to the position, no less and no more; answers how many. */
async function checkRows(t: Test, store: KeyValueStore): Promise<number> {
  const position = Number((await store.get(bytes('position')))?.toString() ?? -1)
  const names = await readNames(store, { gte: bytes('k'), lt: bytes('l') })
  t.same(
    names,
    Array.from({ length: position + 1 }, (_, i) => rowName(i)),
  )
  return names.length
}

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
      const names = Array.from({ length: 2000 }, (_, i) => bytes(rowName(i)))
      await t.rejects(store.getMany(names), { code: 'STORE_CORRUPT' })
      const reads = await Promise.allSettled(names.map((each) => store.get(each)))
      t.ok(reads.some(({ status }) => status === 'rejected'))
      t.notOk(reads.some((read) => read.status === 'fulfilled' && read.value === undefined))
      t.equal(store.openIterators, 0)
      await store.close()
    })
  }
})

t.test('RS-09 a directory that another process has open is refused, and that one goes on', async (t) => {
  const directory = t.testdir()
  const provider = rocksDbProvider({ directory })
  const writer = startProcess(t, 'write', directory)
  await writer.line()
  const location = join(directory, 'store')
  await t.rejects(provider.open('store'), { code: 'STORE_IN_USE', details: { location } })
  rmSync(join(location, 'CURRENT'))
  await t.rejects(provider.open('store'), { code: 'STORE_IN_USE' }, 'in use comes before damage')
  const position = Number(await writer.line())
  t.ok(Number(await writer.line()) > position, 'the first still writes')
})

t.test('RS-09 after kill -9 the store opens with its LOCK file there, and holds what was acknowledged', async (t) => {
  const directory = t.testdir()
  const lock = join(directory, 'store', 'LOCK')
  let acknowledged = -1
  for (let round = 0; round < 3; round++) {
    const writer = startProcess(t, 'write', directory)
    for (let i = 0; i < 200; i++) acknowledged = Number(await writer.line())
    const { ino } = statSync(lock)
    writer.child.kill('SIGKILL')
    await once(writer.child, 'exit')
    t.equal(statSync(lock).ino, ino, 'the LOCK file is there')

    const store = await rocksDbProvider({ directory }).open('store')
    t.equal(statSync(lock).ino, ino, 'and was not made anew')
    const rows = await readNames(store, { gte: bytes(rowName(acknowledged)) })
    t.equal(rows[0], rowName(acknowledged))
    await store.close()
  }
})

t.test(
  'RS-11 a disk that refuses writes: nothing is written past it, reads go on, and a reopened store writes',
  async (t) => {
    const directory = t.testdir()
    // A limit on the size of files stands for the full disk; the process that has it says what it saw.
    const child = spawn('bash', [
      '-c',
      'ulimit -f 200 && exec "$0" "$@"',
      process.execPath,
      processFile,
      'fill',
      directory,
    ])
    const output: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => output.push(line))
    const [code] = (await once(child, 'exit')) as [number | null]
    t.equal(code, 0)
    const { written, ...seen } = JSON.parse(output.join('')) as Record<string, unknown> & { written: number }
    t.same(seen, { first: 'STORE_WRITE_FAILED', second: 'STORE_WRITE_FAILED', read: true })

    const store = await rocksDbProvider({ directory }).open('store')
    const count = await checkRows(t, store)
    t.ok(count === written || count === written + 1, 'the refused batch may be there, or not')
    await writeRows(store, 100, count)
    t.equal(await checkRows(t, store), count + 100)
    await store.close()
  },
)

t.test(
  'SH-03 calls that race with closing and opening are answered or refused, and never end the process',
  async (t) => {
    const race = startProcess(t, 'race', t.testdir())
    const [code, signal] = (await once(race.child, 'exit')) as [number | null, string | null]
    t.same({ code, signal }, { code: 0, signal: null })
    t.match(await race.line(), /^[1-9]\d* answered, [1-9]\d* refused$/)
  },
)

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

const processFile = fileURLToPath(new URL('store-process.js', import.meta.url))

/** Starts `store-process.js`; it is killed at the end of the test. */
function startProcess(t: Test, mode: string, directory: string): { child: ChildProcess; line(): Promise<string> } {
  const child = spawn(process.execPath, [processFile, mode, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    async line() {
      const { value } = (await lines.next()) as { value: string | undefined }
      return value ?? ''
    },
  }
}
