import { StoreError } from '../../state-stores/errors.js'
import type { Entry, KeyRange, KeyValueStore } from '../../state-stores/key-value-store.js'

/**
 * Pages of entries, each read a second time by its key: a store checks its files when it looks a key up, not when it walks.
 * For what a task reads once and then relies on. Errors: STORE_CORRUPT.
 */
export async function* checkedEntries(store: KeyValueStore, range: KeyRange): AsyncGenerator<readonly Entry[]> {
  for await (const page of store.entries(range)) {
    const keys = page.map(([key]) => key)
    const values = await store.getMany(keys)
    yield keys.map((key, i) => {
      const value = values[i]
      if (value === undefined) throw new StoreError('STORE_CORRUPT', `the store ${store.location} names a key it lacks`)
      return [key, value] as const
    })
  }
}
