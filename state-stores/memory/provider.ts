import { StoreError } from '../errors.js'
import { guardedStore } from '../guarded-store.js'
import type { KeyValueStore, StoreProvider } from '../key-value-store.js'
import { setAsideName } from '../set-aside-name.js'
import { memoryContent } from './content.js'
import type { Content } from './content.js'
import { memoryDriver } from './store.js'
import type { Faults } from './store.js'

/** Stores in memory, for tests and simulations, with the accidents that happen to real ones. */
export interface MemoryProvider extends StoreProvider {
  /** The end of the process: an open store answers STORE_CLOSED from now on, what was written stays. */
  crash(name: string): void
  /** The end of the machine: as `crash`, and what was written since the last synced write is lost. */
  losePower(name: string): void
  /** The loss of the disk: as `crash`, and the next `open` starts empty. */
  destroy(name: string): void
  /** The next reads of the open store fail with STORE_CORRUPT. */
  failReads(name: string, count?: number): void
  /** The next writes of the open store fail with STORE_WRITE_FAILED, and all after them until it is opened anew. */
  failWrites(name: string, count?: number): void
  /** The next calls of `open` fail with STORE_CORRUPT, until the store is set aside. */
  corrupt(name: string): void
}

export function memoryProvider(): MemoryProvider {
  const contents = new Map<string, Content>()
  const opened = new Map<string, Faults>()
  const corrupt = new Set<string>()
  let setAsideCount = 0

  function open(name: string): Promise<KeyValueStore> {
    if (opened.has(name)) return refuse('STORE_IN_USE', name, 'is open already')
    if (corrupt.has(name)) return refuse('STORE_CORRUPT', name, 'is damaged')
    const content = contents.get(name) ?? memoryContent()
    contents.set(name, content)
    const faults: Faults = { failingReads: 0, failingWrites: 0, isCrashed: false }
    opened.set(name, faults)
    const driver = memoryDriver(name, content, faults)
    const close = async (): Promise<void> => {
      await driver.close()
      if (opened.get(name) === faults) opened.delete(name)
    }
    return Promise.resolve(guardedStore(name, { ...driver, close }))
  }

  function crash(name: string): void {
    const faults = opened.get(name)
    if (faults !== undefined) faults.isCrashed = true
    opened.delete(name)
  }

  return {
    open,
    setAside(name, reason) {
      if (opened.has(name)) return refuse('STORE_IN_USE', name, 'is open')
      const target = setAsideName(name, ++setAsideCount, reason)
      const content = contents.get(name)
      if (content !== undefined) contents.set(target, content)
      contents.delete(name)
      corrupt.delete(name)
      return Promise.resolve(target)
    },
    crash,
    losePower(name) {
      crash(name)
      contents.get(name)?.loseUnsynced()
    },
    destroy(name) {
      crash(name)
      contents.delete(name)
      corrupt.delete(name)
    },
    failReads(name, count = 1) {
      const faults = opened.get(name)
      if (faults !== undefined) faults.failingReads += count
    },
    failWrites(name, count = 1) {
      const faults = opened.get(name)
      if (faults !== undefined) faults.failingWrites += count
    },
    corrupt: (name) => void corrupt.add(name),
  }
}

function refuse(code: 'STORE_IN_USE' | 'STORE_CORRUPT', name: string, what: string): Promise<never> {
  return Promise.reject(new StoreError(code, `the store ${name} ${what}`, { details: { location: name } }))
}
