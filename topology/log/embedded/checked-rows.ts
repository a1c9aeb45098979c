import type { Entry, KeyRange, KeyValueStore } from '../../../state-stores/key-value-store.js'
import { LogError } from '../errors.js'
import { logErrorOf } from './store-failure.js'

/** Rows of a range, looked up one by one: what is walked over is not checked, what is looked up is. Errors: LOG_DAMAGED. */
export async function checkedRows(store: KeyValueStore, range: KeyRange): Promise<readonly Entry[]> {
  try {
    const keys: Buffer[] = []
    for await (const page of store.entries(range)) for (const [key] of page) keys.push(key)
    const values = await store.getMany(keys)
    return keys.map((key, i) => {
      const value = values[i]
      if (value === undefined) throw new LogError('LOG_DAMAGED', `a row of ${store.location} is not to be found again`)
      return [key, value]
    })
  } catch (error) {
    throw logErrorOf(error)
  }
}
