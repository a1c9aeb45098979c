import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../common/clock.js'
import { cut } from '../../common/errors.js'
import { StoreError } from '../../state-stores/errors.js'
import type { KeyValueStore, StoreProvider } from '../../state-stores/key-value-store.js'
import { rocksDbProvider } from '../../state-stores/rocksdb/provider.js'
import { AuditError } from '../../topology/audit/errors.js'
import { openEmbeddedLogAt } from '../../topology/log/embedded/embedded-log.js'
import { LogError } from '../../topology/log/errors.js'
import type { Log } from '../../topology/log/log.js'

/** Never fires a timer: retention and compaction stay off. */
const still: Clock = { now: () => 0, monotonic: () => 0, setTimer: () => () => undefined }

/**
 * The embedded log in the data directory of a Pulsefold that is not running; the directory is locked meanwhile, as by a
 * Pulsefold, and nothing of ours is written to it. Errors: AUDIT_SOURCE_UNREADABLE; AUDIT_SOURCE_IN_USE while one runs.
 */
export async function openEmbeddedReader(dataDir: string): Promise<Log> {
  if (!existsSync(join(dataDir, 'log'))) {
    throw new AuditError('AUDIT_SOURCE_UNREADABLE', `there is no log in ${cut(dataDir, 300)}`)
  }
  return openEmbeddedLogAt(readOnlyProvider(dataDir), 'log', {
    clock: still,
    newIncarnation: refuse,
    onCleanError: () => undefined,
  }).catch((thrown: unknown) => {
    if (!(thrown instanceof LogError) || thrown.code !== 'LOG_DIRECTORY_IN_USE') throw thrown
    throw new AuditError('AUDIT_SOURCE_IN_USE', `a Pulsefold runs on ${cut(dataDir, 300)}`, { cause: thrown })
  })
}

/** A store of an instance that is not running, owner's or standby's, for reading; undefined where there is none. */
export async function openTaskStoreReader(dataDir: string, name: string): Promise<KeyValueStore | undefined> {
  const directory = join(dataDir, 'stores')
  if (!existsSync(join(directory, name))) return undefined
  try {
    return await readOnlyProvider(directory).open(name)
  } catch (thrown) {
    if (thrown instanceof StoreError && thrown.code === 'STORE_IN_USE') return undefined
    throw thrown
  }
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
        verify: (inTurn) => store.verify(inTurn),
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
