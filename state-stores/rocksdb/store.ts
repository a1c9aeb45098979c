import { ensureError } from '../../common/errors.js'
import type { PageSource, StoreDriver } from '../guarded-store.js'
import type { WriteOperation } from '../key-value-store.js'
import { isNotFound, readError, writeError } from './native-error.js'
import * as native from './native.js'
import { parseLiveTables, verifyTables } from './verify-tables.js'
import type { NativeBatch, NativeDatabase } from './native.js'

/** Writes that go to the disk together. */
interface WriteGroup {
  readonly batch: NativeBatch
  sync: boolean
  readonly written: Promise<void>
}

/**
 * The store driver over an open database. Writes are applied in the order of the calls; those that wait for one under
 * way go as one batch, so many small synced writes share a disk flush. After a failed write all later ones are refused
 * until the store is opened anew, since RocksDB itself would go on behind the gap and lose them at the next recovery.
 */
export function rocksDbDriver(location: string, database: NativeDatabase): StoreDriver {
  let waiting: WriteGroup | undefined
  let last: Promise<void> = Promise.resolve()
  let failed: Error | undefined

  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = last.then(async () => {
      if (failed !== undefined) throw failed
      await work().catch((thrown: unknown) => {
        failed = writeError(location, ensureError(thrown))
        throw failed
      })
    })
    last = turn.catch(() => undefined)
    return turn
  }

  function startGroup(): WriteGroup {
    const batch = native.createBatch(database)
    const written = inTurn(() => {
      waiting = undefined
      return batch.write(group.sync)
    })
    const group: WriteGroup = { batch, sync: false, written }
    return group
  }

  function write(operations: Iterable<WriteOperation>, sync: boolean): Promise<void> {
    if (!Array.isArray(operations)) {
      // Made on the way they may fail on the way: then this batch is dropped.
      const batch = native.createBatch(database)
      batch.add(operations)
      waiting = undefined
      return inTurn(() => batch.write(sync))
    }
    waiting ??= startGroup()
    waiting.batch.add(operations)
    waiting.sync ||= sync
    return waiting.written
  }

  const rejectRead = (thrown: unknown): never => {
    throw readError(location, ensureError(thrown))
  }

  const readPages = <E>(source: PageSource<E>): PageSource<E> => ({
    next: () => source.next().catch(rejectRead),
    end: () => source.end(),
  })

  return {
    get: (key) =>
      native.get(database, key).catch((thrown: unknown) => {
        const error = ensureError(thrown)
        if (isNotFound(error)) return undefined
        throw readError(location, error)
      }),
    getMany: (keys) => native.getMany(database, keys).catch(rejectRead),
    write,
    entries: (range) => readPages(native.iteratePages<Buffer>(database, range, true)),
    texts: (range) => readPages(native.iteratePages<string>(database, range, false)),
    clear(range) {
      waiting = undefined
      return inTurn(() => native.clear(database, range))
    },
    verify: (inTurn) => verifyTables(location, parseLiveTables(native.tables(database)), inTurn),
    close: () => native.closeDatabase(database),
  }
}
