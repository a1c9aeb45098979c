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
      directory ??= scratchDirectory()
      return openScratchStore(await directory, `store-${++opened}`)
    },
    async remove() {
      if (directory !== undefined) await rm(await directory, { recursive: true, force: true })
    },
  }
}

export function scratchDirectory(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'pulsefold-audit-'))
}

export function openScratchStore(directory: string, name: string): Promise<KeyValueStore> {
  return rocksDbProvider({ directory, writeBufferBytes: 16 * 1024 * 1024 }).open(name, { cacheBytes: 8 * 1024 * 1024 })
}
