import binding from 'rocksdb/binding.js'
import type { Batch, Database, NativeIterator, OpenOptions, RangeOptions } from 'rocksdb/binding.js'
import type { TightRange } from '../key-range.js'
import type { PageSource } from '../guarded-store.js'
import type { WriteOperation } from '../key-value-store.js'

/**
 * npm rocksdb 5.2.1's native functions with promises: the only place that imports it. The package's own iterator costs
 * a tick and two objects for each entry and its batch checks everything twice; these functions are what it calls.
 */
export type NativeDatabase = Database

/** Bytes after which a page of an iterator is full. */
const pageBytes = 64 * 1024

export async function openDatabase(location: string, options: OpenOptions): Promise<Database> {
  const database = binding.db_init()
  await settled((done) => binding.db_open(database, location, options, done))
  return database
}

export function closeDatabase(database: Database): Promise<void> {
  return settled((done) => binding.db_close(database, done))
}

export function get(database: Database, key: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    binding.db_get(database, key, {}, (error, value) => (error === null ? resolve(value) : reject(error)))
  })
}

export function getMany(database: Database, keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
  return new Promise((resolve, reject) => {
    binding.db_get_many(database, keys, {}, (error, values) => (error === null ? resolve(values) : reject(error)))
  })
}

export function clear(database: Database, range: TightRange): Promise<void> {
  return settled((done) => binding.db_clear(database, nativeRange(range), done))
}

/** RocksDB's words on the tables that belong to the database. */
export function tables(database: Database): string {
  return binding.db_get_property(database, 'rocksdb.sstables')
}

export interface NativeBatch {
  /** Copies the bytes. */
  add(operations: Iterable<WriteOperation>): void
  write(sync: boolean): Promise<void>
}

export function createBatch(database: Database): NativeBatch {
  const batch: Batch = binding.batch_init(database)
  return {
    add(operations) {
      for (const { key, value } of operations) {
        if (value === null) binding.batch_del(batch, key)
        else binding.batch_put(batch, key, value.length === 0 ? undefined : value)
      }
    },
    write: (sync) => settled((done) => binding.batch_write(batch, { sync }, done)),
  }
}

/** Takes its snapshot at once. Keys and values are both Buffers, or both UTF-8 strings. */
export function iteratePages<T>(database: Database, range: TightRange, asBuffer: boolean): PageSource<readonly [T, T]> {
  const iterator: NativeIterator = binding.iterator_init(database, {
    ...nativeRange(range),
    keyAsBuffer: asBuffer,
    valueAsBuffer: asBuffer,
    fillCache: false,
    highWaterMark: pageBytes,
  })
  let isFinished = false

  const append = (page: (readonly [T, T])[]): Promise<void> =>
    new Promise((resolve, reject) => {
      binding.iterator_next(iterator, (error, flat, finished) => {
        if (error !== null) {
          reject(error)
          return
        }
        isFinished = finished
        for (let i = flat.length - 1; i > 0; i -= 2) page.push([flat[i] as T, flat[i - 1] as T])
        resolve()
      })
    })

  return {
    async next() {
      const page: (readonly [T, T])[] = []
      if (!isFinished) await append(page)
      // The first native page has one entry only.
      if (page.length === 1 && range.limit > 1 && !isFinished) await append(page)
      return page.length === 0 ? undefined : page
    },
    end: () => settled((done) => binding.iterator_end(iterator, done)),
  }
}

function nativeRange({ limit, ...range }: TightRange): RangeOptions {
  return { ...range, limit: limit > 0x7fff_ffff ? -1 : limit }
}

function settled(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error instanceof Error ? reject(error) : resolve()))
  })
}
