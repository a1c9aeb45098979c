import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rocksDbProvider } from '../../state-stores/rocksdb/provider.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'

/** Stores for an audit to fold into. */
export interface ScratchStores {
  openStore(): Promise<KeyValueStore>
  /** Deletes them; the stores must be closed before. */
  remove(): Promise<void>
}

/** In a temporary directory, made with the first store. */
export function scratchStores(): ScratchStores {
  let directory: Promise<string> | undefined
  let opened = 0
  return {
    async openStore() {
      directory ??= mkdtemp(join(tmpdir(), 'pulsefold-audit-'))
      const stores = rocksDbProvider({ directory: await directory, writeBufferBytes: 16 * 1024 * 1024 })
      return stores.open(`store-${++opened}`, { cacheBytes: 8 * 1024 * 1024 })
    },
    async remove() {
      if (directory !== undefined) await rm(await directory, { recursive: true, force: true })
    },
  }
}
