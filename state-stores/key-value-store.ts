/** One change of a batch: a put, or a delete when `value` is null. Keys are never empty. */
export interface WriteOperation {
  readonly key: Buffer
  readonly value: Buffer | null
}

/** A half-open or closed range of keys in byte order; absent bounds are open. */
export interface KeyRange {
  readonly gte?: Buffer
  readonly gt?: Buffer
  readonly lt?: Buffer
  readonly lte?: Buffer
  readonly reverse?: boolean
  /** At most so many entries. */
  readonly limit?: number
}

export type Entry = readonly [key: Buffer, value: Buffer]
export type TextEntry = readonly [key: string, value: string]

/**
 * An ordered map of bytes to bytes: the port over RocksDB and its memory twin. Every method rejects with StoreError
 * STORE_CLOSED once `close` was called, and with STORE_CORRUPT when files turn out damaged (a failed read is damage,
 * never absence). Nothing here can crash the process, in whatever order it is called. Keys of no bytes and the like are
 * programming errors: TypeError.
 */
export interface KeyValueStore {
  readonly location: string
  get(key: Buffer): Promise<Buffer | undefined>
  /** The values in the order of the keys. */
  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>
  /**
   * All or nothing, in the order of the calls. With `sync` it has reached the disk when this resolves; without, the
   * operating system. After STORE_WRITE_FAILED all later writes are refused with it until the store is opened anew;
   * the failed one may then be there or not. Operations are copied as they are asked for, before this returns: made on the
   * way they may use the same bytes again.
   */
  write(operations: Iterable<WriteOperation>, options?: { readonly sync?: boolean }): Promise<void>
  /**
   * Pages of entries of one consistent snapshot, taken when this is called. Leaving the loop closes the iterator; so one
   * loop each, and begun. RocksDB's iterators do not check the blocks' checksums, as `get` does: see `verify`.
   */
  entries(range?: KeyRange): AsyncIterable<readonly Entry[]>
  /** As `entries`, keys and values decoded as UTF-8: a third of the cost where both are text. */
  texts(range?: KeyRange): AsyncIterable<readonly TextEntry[]>
  /** Deletes all keys of the range, in batches of which a crash may leave some undone. */
  clear(range?: KeyRange): Promise<void>
  /**
   * Reads all files and checks their checksums, in small pieces of work. Of what a walk meets damaged no other tells: it gives wrong
   * entries, or RocksDB ends the process. Errors: STORE_CORRUPT, and those of `inTurn` (absent: at once).
   */
  verify(inTurn?: InTurn): Promise<void>
  /** Iterators not yet closed; for a metric and the tests. */
  readonly openIterators: number
  /** Waits for work under way, then closes. A second call returns the same promise. */
  close(): Promise<void>
}

/** Does a piece of work that holds the event loop when its turn has come. */
export type InTurn = (work: () => void) => Promise<void>

export interface StoreOptions {
  /** Bytes of block cache of this store. */
  readonly cacheBytes?: number
  /** Checks the files first, as `verify` does: what is damaged is not opened. */
  readonly verify?: boolean
  /**
   * Checks what the store was written last, which is in no table yet: a store that lacks writes from the middle, as after a torn write
   * those at the end, is refused. Not for a store that follows from elsewhere: it may lack some.
   */
  readonly verifyWrites?: boolean
}

/** Opens stores by name. The memory twin keeps what was written, so that a test can reopen it. */
export interface StoreProvider {
  /** Opens, creating when absent. Errors: STORE_IN_USE, STORE_NOT_A_DIRECTORY, STORE_CORRUPT, STORE_UNAVAILABLE, STORE_WRITE_FAILED. */
  open(name: string, options?: StoreOptions): Promise<KeyValueStore>
  /** Moves a closed (or unopenable) store out of the way, so that the next `open` starts empty; answers where it went. */
  setAside(name: string, reason: string): Promise<string>
}
