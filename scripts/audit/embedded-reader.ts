import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../common/clock.js'
import { cut } from '../../common/errors.js'
import type { KeyValueStore, StoreProvider } from '../../state-stores/key-value-store.js'
import { rocksDbProvider } from '../../state-stores/rocksdb/provider.js'
import { AuditError } from '../../topology/audit/errors.js'
import { openEmbeddedLogAt } from '../../topology/log/embedded/embedded-log.js'
import type { Log } from '../../topology/log/log.js'

/** Never fires a timer: retention and compaction stay off. */
const still: Clock = { now: () => 0, monotonic: () => 0, setTimer: () => () => undefined }

/**
 * The embedded log in the data directory of a Pulsefold that is not running; the directory is locked meanwhile, as by a
 * Pulsefold, and nothing of ours is written to it. Errors: AUDIT_SOURCE_UNREADABLE; LOG_DIRECTORY_IN_USE while one runs.
 */
export async function openEmbeddedReader(dataDir: string): Promise<Log> {
  if (!existsSync(join(dataDir, 'log'))) {
    throw new AuditError('AUDIT_SOURCE_UNREADABLE', `there is no log in ${cut(dataDir, 300)}`)
  }
  return openEmbeddedLogAt(readOnlyProvider(dataDir), 'log', {
    clock: still,
    newIncarnation: refuse,
    onCleanError: () => undefined,
  })
}

/** A stopped task's store, for reading; undefined where there is none. Errors: STORE_IN_USE. */
export async function openTaskStoreReader(dataDir: string, name: string): Promise<KeyValueStore | undefined> {
  const directory = join(dataDir, 'stores')
  return existsSync(join(directory, name)) ? readOnlyProvider(directory).open(name) : undefined
}

function readOnlyProvider(directory: string): StoreProvider {
  const stores = rocksDbProvider({ directory })
  return {
    open: async (name, options) => {
      const store = await stores.open(name, options)
      return {
        location: store.location,
        get openIterators() {
          return store.openIterators
        },
        get: (key) => store.get(key),
        getMany: (keys) => store.getMany(keys),
        entries: (range) => store.entries(range),
        texts: (range) => store.texts(range),
        close: () => store.close(),
        write: refuse,
        clear: refuse,
      }
    },
    setAside: refuse,
  }
}

function refuse(): never {
  throw new Error('an audit writes nothing to what it reads')
}
