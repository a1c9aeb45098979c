import { readFile, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { cut, ensureError } from '../../common/errors.js'
import { isDamage, StoreError } from '../errors.js'
import { atOnce, guardedStore } from '../guarded-store.js'
import type { KeyValueStore, StoreOptions, StoreProvider } from '../key-value-store.js'
import { inspectDirectory } from './inspect-directory.js'
import { openError, writeError } from './native-error.js'
import { openDatabase } from './native.js'
import { setAsideDirectory } from './set-aside.js'
import { rocksDbDriver } from './store.js'
import { verifyTables } from './verify-tables.js'
import { findLogDamage } from './write-ahead-log.js'
import type { LiveTable } from './verify-tables.js'

export interface RocksDbOptions {
  /** Holds one directory a store, made when absent. A store's name has letters, digits, '.', '_' and '-'. */
  readonly directory: string
  /** Bytes of a memtable, of which a store has one, for moments two. Default 1 MiB. */
  readonly writeBufferBytes?: number
}

const defaultCacheBytes = 1024 * 1024
const defaultWriteBufferBytes = 1024 * 1024
// A store has some ten files; the bound keeps fifty stores far from a process's limit.
const maxOpenFiles = 64

/**
 * Stores as RocksDB databases (npm rocksdb 5.2.1), a directory each. A write without `sync` survives the end of the
 * process, not of the machine; after a torn write-ahead log a store holds all up to some batch, and nothing beyond.
 */
export function rocksDbProvider({
  directory,
  writeBufferBytes = defaultWriteBufferBytes,
}: RocksDbOptions): StoreProvider {
  const opened = new Set<string>()

  async function open(name: string, options: StoreOptions = {}): Promise<KeyValueStore> {
    const location = locationOf(directory, name)
    if (opened.has(location)) throw inUse(location)
    opened.add(location)
    let damage: StoreError | undefined
    try {
      const { state, tables, logs } = await inspectDirectory(location)
      if (options.verify === true) damage = await damageOf(location, tables)
      if (options.verifyWrites === true) damage ??= await lostWrites(location, logs)
      const database = await openDatabase(location, {
        // RocksDB would start an empty database over the data files of one whose CURRENT is missing.
        createIfMissing: state === 'empty',
        // A damaged one is not opened, which deletes files; only its lock is tried, for it may be in use.
        errorIfExists: state === 'damaged' || damage !== undefined,
        cacheSize: options.cacheBytes ?? defaultCacheBytes,
        writeBufferSize: writeBufferBytes,
        maxOpenFiles,
      })
      const driver = rocksDbDriver(location, database)
      return guardedStore(location, { ...driver, close: () => driver.close().finally(() => opened.delete(location)) })
    } catch (error) {
      opened.delete(location)
      const reason = openError(location, ensureError(error))
      throw damage !== undefined && reason.code === 'STORE_CORRUPT' ? damage : reason
    }
  }

  async function setAside(name: string, reason: string): Promise<string> {
    const location = locationOf(directory, name)
    if (opened.has(location)) throw inUse(location)
    try {
      if ((await stat(location)).isDirectory()) return await setAsideDirectory(location, reason)
    } catch (error) {
      throw writeError(location, ensureError(error))
    }
    throw new StoreError('STORE_NOT_A_DIRECTORY', `${location} is not a directory`, { details: { location } })
  }

  return { open, setAside }
}

/** RocksDB may end the process as it opens, or walks over, a damaged table. */
async function damageOf(location: string, tables: readonly LiveTable[]): Promise<StoreError | undefined> {
  try {
    await verifyTables(location, tables, atOnce)
    return undefined
  } catch (thrown) {
    if (isDamage(thrown)) return thrown
    throw thrown
  }
}

async function lostWrites(location: string, logs: readonly string[]): Promise<StoreError | undefined> {
  for (const name of logs) {
    const damagedAt = findLogDamage(await readFile(join(location, name)))
    if (damagedAt === undefined) continue
    const message = `writes are lost from byte ${damagedAt} of ${name} on, in the store ${location}`
    return new StoreError('STORE_CORRUPT', message, { details: { location } })
  }
  return undefined
}

function locationOf(directory: string, name: string): string {
  if (!/^\w[\w.-]*$/.test(name)) throw new TypeError(`not a store's name: ${cut(name)}`)
  return resolve(join(directory, name))
}

function inUse(location: string): StoreError {
  return new StoreError('STORE_IN_USE', `the store ${location} is open already`, { details: { location } })
}
