import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import { prefixRange } from './row-store.js'
import { LACKING } from './table-runtime.js'

/**
 * The keys that a task's changelog does not hold yet, in memory and in the store: each commit adds one row that lists the
 * keys it changed first, and the commit after a changelog write deletes the rows that it has made needless. A key written
 * to the changelog twice does no harm; one forgotten would.
 */
export class LackingKeys {
  #keys = new Set<string>()
  /** Store keys of the lists, oldest first. */
  #lists: Buffer[] = []
  #needlessLists: Buffer[] = []

  get size(): number {
    return this.#keys.size
  }

  /** Learns what an earlier life left. */
  async load(store: KeyValueStore): Promise<void> {
    for await (const page of store.entries(prefixRange(LACKING))) {
      for (const [list, keys] of page) {
        this.#lists.push(list)
        for (const key of JSON.parse(keys.toString()) as string[]) this.#keys.add(key)
      }
    }
  }

  /** Operations for the batch of a commit at this journal offset. */
  commit(offset: number, changedKeys: readonly string[]): WriteOperation[] {
    const operations: WriteOperation[] = this.#needlessLists.map((key) => ({ key, value: null }))
    this.#needlessLists = []
    const added = changedKeys.filter((key) => !this.#keys.has(key))
    if (added.length === 0) return operations
    for (const key of added) this.#keys.add(key)
    const list = Buffer.from(LACKING + String(offset).padStart(16, '0'))
    this.#lists.push(list)
    operations.push({ key: list, value: Buffer.from(JSON.stringify(added)) })
    return operations
  }

  /** Takes all keys for a write to the changelog, as of the last commit. */
  take(): readonly string[] {
    const keys = [...this.#keys]
    this.#keys = new Set()
    return keys
  }

  /** The changelog has them. */
  written(): void {
    this.#needlessLists.push(...this.#lists)
    this.#lists = []
  }

  /** The write failed: they are still lacking. */
  putBack(keys: readonly string[]): void {
    for (const key of keys) this.#keys.add(key)
  }
}
