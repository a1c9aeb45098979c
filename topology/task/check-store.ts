import { ensureError } from '../../common/errors.js'
import { createDigest, digestBytes } from '../../state-stores/digest.js'
import { StoreError } from '../../state-stores/errors.js'
import type { Entry, InTurn, KeyValueStore } from '../../state-stores/key-value-store.js'
import type { Table } from '../processor.js'
import { DIGEST_KEY } from './commit-record.js'
import { indexChanges } from './freeze.js'
import type { IndexChange } from './freeze.js'
import { FIRST_INDEX, FIRST_ROW, tableRuntimes } from './table-runtime.js'
import type { TableRuntime } from './table-runtime.js'

/** Entries looked at in one turn: a few tenths of a millisecond. */
const TURN_ENTRIES = 100

/**
 * Checks a store's files, of which all can be told and a walk cannot harm then; then compares all of it, as of one moment, with what
 * was kept of it: the rows that folds wrote with the store's digest, and the index entries with those that the rows give. Answers how
 * many entries there are. Errors: STORE_CORRUPT, STORE_MISMATCH; STORE_CLOSED when it closes meanwhile.
 */
export async function checkStore(
  store: KeyValueStore,
  tables: readonly Table<unknown>[],
  inTurn: InTurn,
): Promise<number> {
  await store.verify(inTurn)
  const sums = storeSums(store, tables)
  let entries = 0
  for await (const page of store.entries()) {
    entries += page.length
    for (let from = 0; from < page.length; from += TURN_ENTRIES) {
      const some = page.slice(from, from + TURN_ENTRIES)
      await inTurn(() => some.forEach(sums.add))
    }
  }
  const difference = sums.difference()
  if (difference !== undefined) throw mismatch(store, difference)
  return entries
}

interface StoreSums {
  readonly add: (entry: Entry) => void
  /** What does not agree; undefined: all does. */
  difference(): string | undefined
}

function storeSums(store: KeyValueStore, tables: readonly Table<unknown>[]): StoreSums {
  const byPrefix = new Map(tableRuntimes(tables).map((runtime) => [runtime.prefix, runtime]))
  const rows = createDigest()
  /** Those that the rows give, less those that are there. */
  const indexEntries = createDigest()
  let sealed: Buffer | undefined
  return {
    add([key, value]) {
      const prefix = key.toString('latin1', 0, 1)
      if (key.equals(DIGEST_KEY)) sealed = value
      if (prefix < FIRST_ROW) return
      if (prefix >= FIRST_INDEX) {
        indexEntries.remove(key, value)
        return
      }
      rows.add(key, value)
      const runtime = byPrefix.get(prefix)
      if (runtime === undefined || runtime.indexes.length === 0) return
      for (const [entry, text] of entriesOf(store, runtime, key, value)) {
        indexEntries.add(Buffer.from(entry), Buffer.from(text ?? ''))
      }
    },
    difference() {
      const expected = sealed?.subarray(0, digestBytes) ?? createDigest().serialize()
      if (!rows.serialize().equals(expected)) return 'its rows do not have the digest kept with them'
      if (!indexEntries.equals(createDigest())) return 'its index entries are not those of its rows'
      return undefined
    },
  }
}

function entriesOf(store: KeyValueStore, runtime: TableRuntime, key: Buffer, value: Buffer): readonly IndexChange[] {
  try {
    return indexChanges(runtime, key.toString('utf8', 1), undefined, runtime.table.codec.decode(value))
  } catch (thrown) {
    throw mismatch(store, `a row of ${runtime.table.name} cannot be decoded`, ensureError(thrown))
  }
}

function mismatch({ location }: KeyValueStore, what: string, cause?: Error): StoreError {
  return new StoreError('STORE_MISMATCH', `a check found damage: ${what}, in the store ${location}`, {
    details: { location },
    ...(cause !== undefined && { cause }),
  })
}
