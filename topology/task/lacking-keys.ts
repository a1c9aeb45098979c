import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import type { Log, TopicPartition } from '../log/log.js'
import { isMeta } from './restore.js'
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
    const list = listOf(String(offset).padStart(16, '0'), added)
    this.#lists.push(list.key)
    operations.push(list)
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

/**
 * Makes all keys that a changelog holds lacking ones of a store that was not restored from it: the next write to the changelog
 * then gives each its row, or a tombstone, so that what is there comes to what its marker seals.
 */
export async function lackAll(store: KeyValueStore, log: Log, changelog: TopicPartition): Promise<void> {
  const { start, end } = await log.offsets(changelog)
  for (let offset = start; offset < end;) {
    const { records, next } = await log.read(changelog, offset)
    const keys = new Set(records.flatMap(({ key }) => (key === null || isMeta(key) ? [] : [key.toString()])))
    if (keys.size > 0) await store.write([listOf(`changelog/${offset}`, [...keys])])
    offset = next
  }
}

/** A row that lists lacking keys; of one store no two have one name. */
export function listOf(name: string, keys: readonly string[]): { readonly key: Buffer; readonly value: Buffer } {
  return { key: Buffer.from(LACKING + name), value: Buffer.from(JSON.stringify(keys)) }
}
