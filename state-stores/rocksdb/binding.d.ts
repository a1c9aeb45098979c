/** The native functions of npm rocksdb 5.2.1 that are used; they check nothing and crash on misuse: see `store.ts`. */
declare module 'rocksdb/binding.js' {
  type Callback<T extends unknown[] = []> = (error: Error | null, ...results: T) => void
  type Database = object & { readonly __database: never }
  type Batch = object & { readonly __batch: never }
  type NativeIterator = object & { readonly __iterator: never }

  interface OpenOptions {
    readonly createIfMissing: boolean
    readonly errorIfExists: boolean
    /** Bytes of block cache. */
    readonly cacheSize: number
    /** Bytes of a memtable; there are up to two. */
    readonly writeBufferSize: number
    readonly maxOpenFiles: number
  }

  interface RangeOptions {
    readonly gte?: Buffer
    readonly gt?: Buffer
    readonly lt?: Buffer
    readonly lte?: Buffer
    readonly reverse: boolean
    /** -1: all. */
    readonly limit: number
  }

  interface IteratorOptions extends RangeOptions {
    readonly keyAsBuffer: boolean
    readonly valueAsBuffer: boolean
    readonly fillCache: boolean
    /** Bytes after which a page is full; it also is at 1000 entries. The first page has one entry. */
    readonly highWaterMark: number
  }

  const binding: {
    db_init(): Database
    db_open(database: Database, location: string, options: OpenOptions, callback: Callback): void
    db_close(database: Database, callback: Callback): void
    db_get(database: Database, key: Buffer, options: object, callback: Callback<[value: Buffer]>): void
    db_get_many(
      database: Database,
      keys: readonly Buffer[],
      options: object,
      callback: Callback<[values: (Buffer | undefined)[]]>,
    ): void
    db_clear(database: Database, options: RangeOptions, callback: Callback): void
    db_get_property(database: Database, name: string): string
    batch_init(database: Database): Batch
    /** A value of undefined is an empty one. (An empty Buffer also is, but leaks 32 bytes.) */
    batch_put(batch: Batch, key: Buffer, value: Buffer | undefined): void
    batch_del(batch: Batch, key: Buffer): void
    batch_write(batch: Batch, options: { readonly sync: boolean }, callback: Callback): void
    iterator_init(database: Database, options: IteratorOptions): NativeIterator
    /** Values and keys by turns, the last entry first: value, key, value, key. */
    iterator_next(iterator: NativeIterator, callback: Callback<[page: unknown[], isFinished: boolean]>): void
    iterator_end(iterator: NativeIterator, callback: Callback): void
  }
  export default binding
  export type { Batch, Database, NativeIterator, IteratorOptions, OpenOptions, RangeOptions }
}
