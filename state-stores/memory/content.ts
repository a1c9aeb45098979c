import { isInRange } from '../key-range.js'
import type { TightRange } from '../key-range.js'
import type { Entry, WriteOperation } from '../key-value-store.js'
import { sortedKeys } from './sorted-keys.js'

/** What a memory store's disk holds; it outlives the store. */
export interface Content {
  get(key: Buffer): Buffer | undefined
  /** Keeps the buffers it is given. */
  apply(operations: readonly WriteOperation[], sync: boolean): void
  /** The entries of the range as they are now. */
  select(range: TightRange): Entry[]
  /** Takes back what was written since the last `sync`, as the end of the machine does. */
  loseUnsynced(): void
}

export function memoryContent(): Content {
  // Keys as latin1 strings: their order is that of the bytes.
  const keys = sortedKeys()
  const values = new Map<string, Buffer>()
  const beforeUnsynced = new Map<string, Buffer | null>()

  function set(key: string, value: Buffer | null): void {
    if (value === null) {
      if (values.delete(key)) keys.delete(key)
      return
    }
    if (!values.has(key)) keys.add(key)
    values.set(key, value)
  }

  return {
    get: (key) => values.get(key.toString('latin1')),
    apply(operations, sync) {
      for (const operation of operations) {
        const key = operation.key.toString('latin1')
        if (!sync && !beforeUnsynced.has(key)) beforeUnsynced.set(key, values.get(key) ?? null)
        set(key, operation.value)
      }
      if (sync) beforeUnsynced.clear()
    },
    select(range) {
      const found: Entry[] = []
      if (range.limit === 0) return found
      const start = range.reverse ? (range.lt ?? range.lte) : (range.gt ?? range.gte)
      const all = range.reverse ? keys.descending(start?.toString('latin1')) : keys.ascending(start?.toString('latin1'))
      for (const text of all) {
        const key = Buffer.from(text, 'latin1')
        if (isInRange(key, range)) found.push([key, Buffer.from(values.get(text) ?? '')])
        else if (start?.equals(key) !== true) break
        if (found.length >= range.limit) break
      }
      return found
    },
    loseUnsynced() {
      for (const [key, value] of beforeUnsynced) set(key, value)
      beforeUnsynced.clear()
    },
  }
}
