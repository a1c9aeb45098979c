import { createStoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import type { TopicPartition } from '../log/log.js'
import type { Table } from '../processor.js'
import { parseMarker } from '../task/changelog.js'
import { commitKeys, parseCommit } from '../task/commit-record.js'
import { isMeta } from '../task/restore.js'
import { prefixRange } from '../task/row-store.js'
import { CHANGELOG_MARKER, tableRuntimes } from '../task/table-runtime.js'
import { deserializeStoreDigest } from '../../state-stores/digest.js'
import type { JournalReader } from './journal-source.js'

/** A state that the live system keeps, with the journal position it claims and the digest it has sealed for it. */
export interface KeptState {
  /** `changelog`, `store`, or a live copy: `active at http://…`, `standby at http://…`. */
  readonly name: string
  readonly offset: number
  readonly foldVersion: number
  /** In hex. */
  readonly sealed: string
  /** Where they can be read. */
  readonly rows?: KeyValueStore
  /** Their digest where they cannot; null: not known. */
  readonly ofRows?: string | null
}

/** What a changelog holds as of its newest marker, in `store` (empty); undefined: it has no marker. */
export async function changelogState(
  reader: JournalReader,
  changelog: TopicPartition,
  store: KeyValueStore,
): Promise<KeptState | undefined> {
  if ((await reader.topic(changelog.topic)) === undefined) return undefined
  const { start, end } = await reader.offsets(changelog)
  let kept: KeptState | undefined
  // Rows stand before the marker of their transaction: those behind the newest marker belong to none.
  let waiting: WriteOperation[] = []
  for (let offset = start; offset < end;) {
    const { records, next } = await reader.read(changelog, offset)
    for (const { key, value } of records) {
      if (key === null) continue
      if (!isMeta(key)) {
        waiting.push({ key, value })
      } else if (value !== null && key.toString() === CHANGELOG_MARKER) {
        const { offset: at, foldVersion, digest } = parseMarker(value)
        const sealed = deserializeStoreDigest(Buffer.from(digest, 'base64')).rows.toHex()
        kept = { name: 'changelog', offset: at, foldVersion, sealed, rows: store }
        await store.write(waiting)
        waiting = []
      }
    }
    if (next <= offset) break
    offset = next
  }
  return kept
}

/** What a task's store holds; undefined: it has no position. */
export async function storeState(store: KeyValueStore): Promise<KeptState | undefined> {
  const [commit, digest] = await store.getMany(commitKeys)
  const found = parseCommit(commit, digest)
  if (found === undefined) return undefined
  const { offset, foldVersion } = found.commit
  return { name: 'store', offset, foldVersion, sealed: found.digest.rows.toHex(), rows: store }
}

/** The digest of the rows as they stand, in hex. */
export async function digestOfRows(store: KeyValueStore, tables: readonly Table<unknown>[]): Promise<string> {
  const digest = createStoreDigest()
  for (const { prefix, digested } of tableRuntimes(tables)) {
    if (!digested) continue
    for await (const page of store.entries(prefixRange(prefix))) {
      for (const [key, value] of page) digest.add(key, value)
    }
  }
  return digest.rows.toHex()
}
