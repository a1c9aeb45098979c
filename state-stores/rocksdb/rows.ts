import type { Test } from 'tap'
import type { KeyValueStore } from '../key-value-store.js'
import { bytes, put, readNames } from '../store-contract.js'

// Numbered rows, for tests of what is left after an accident.

export const rowName = (i: number): string => `k${String(i).padStart(6, '0')}`

/** Puts `count` keys, each in one batch with the position that it brings the store to. */
export async function writeRows(store: KeyValueStore, count: number, from = 0): Promise<void> {
  for (let i = from; i < from + count; i++) {
    await store.write([put(rowName(i), `${i}:${'value '.repeat(20)}`), put('position', String(i))])
  }
}

/** Checks that the rows are those up to the position, no less and no more; answers how many. */
export async function checkRows(t: Test, store: KeyValueStore): Promise<number> {
  const position = Number((await store.get(bytes('position')))?.toString() ?? -1)
  const names = await readNames(store, { gte: bytes('k'), lt: bytes('l') })
  t.same(
    names,
    Array.from({ length: position + 1 }, (_, i) => rowName(i)),
  )
  return names.length
}
