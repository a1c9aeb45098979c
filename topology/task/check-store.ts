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
/** Times that a key is found in order and not by itself until that is damage: it may be deleted, and come back, in between. */
const LOOKS = 3

/**
 * Compares a whole store, as of one moment, with what was kept of it: the rows that folds wrote with the store's digest, and the
 * index entries with those that the rows give. The engine's own keys, deadlines among them, come first and are read by
 * themselves, too: that checks the blocks' checksums. Answers how many entries there are. Errors: STORE_MISMATCH, STORE_CORRUPT;
 * STORE_CLOSED when it closes meanwhile.
 */
export async function checkStore(
  store: KeyValueStore,
  tables: readonly Table<unknown>[],
  inTurn: InTurn,
): Promise<number> {
  await store.verify(inTurn)
  const sums = storeSums(store, tables)
  const missing = new Set<string>()
  let entries = 0
  for await (const page of store.entries()) {
    entries += page.length
    for (let from = 0; from < page.length; from += TURN_ENTRIES) {
      const some = page.slice(from, from + TURN_ENTRIES)
      await inTurn(() => some.forEach(sums.add))
    }
    for (const key of await missingOf(store, page)) missing.add(key)
  }
  await confirmMissing(store, missing)
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

const isOwn = ([key]: Entry): boolean => key.toString('latin1', 0, 1) < FIRST_ROW

/** Which of the engine's own keys of a page the store lacks when it is asked for them by themselves, as latin1. */
async function missingOf(store: KeyValueStore, page: readonly Entry[]): Promise<string[]> {
  const keys = page.filter(isOwn).map(([key]) => key)
  const values = await store.getMany(keys)
  return keys.filter((_key, i) => values[i] === undefined).map((key) => key.toString('latin1'))
}

/** Most of them were deleted since. What is found in order, again and again, and never by itself is a damaged block's. */
async function confirmMissing(store: KeyValueStore, found: ReadonlySet<string>): Promise<void> {
  let missing = found
  for (let looks = 1; looks < LOOKS && missing.size > 0; looks++) {
    const again = new Set<string>()
    for await (const page of store.entries({ lt: Buffer.from(FIRST_ROW) })) {
      for (const key of await missingOf(store, page)) if (missing.has(key)) again.add(key)
    }
    missing = again
  }
  if (missing.size > 0) throw mismatch(store, 'it names keys that it lacks')
}

function mismatch({ location }: KeyValueStore, what: string, cause?: Error): StoreError {
  return new StoreError('STORE_MISMATCH', `a check found damage: ${what}, in the store ${location}`, {
    details: { location },
    ...(cause !== undefined && { cause }),
  })
}
