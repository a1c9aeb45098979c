import { CHANGELOG_MARKER } from './table-runtime.js'
import { readCommit } from './commit-record.js'
import type { CommitRecord } from './commit-record.js'
import type { NewRecord, TopicPartition, TransactionalWriter } from '../log/log.js'

/** Keys read at once while a transaction is put together. */
const PAGE_KEYS = 5000

/**
 * Writes the rows of these keys, which `committed` reads, as of one local commit, its marker, and its seal, in one transaction: readers of committed
 * records see the whole commit or nothing of it. Answers the changelog's end behind it. Errors: WRITER_FENCED when another instance
 * has taken the task.
 */
export async function writeChangelog(
  writer: TransactionalWriter,
  changelog: TopicPartition,
  committed: (keys: readonly string[]) => Promise<readonly (Buffer | null)[]>,
  keys: readonly string[],
  commit: CommitRecord,
  digest: Buffer,
  seal: TopicPartition & { readonly records: readonly NewRecord[] },
): Promise<number> {
  const records: NewRecord[] = []
  for (let i = 0; i < keys.length; i += PAGE_KEYS) {
    const page = keys.slice(i, i + PAGE_KEYS)
    const values = await committed(page)
    for (let at = 0; at < page.length; at++)
      records.push({ key: Buffer.from(page[at] ?? ''), value: values[at] ?? null })
  }
  records.push({
    key: Buffer.from(CHANGELOG_MARKER),
    value: Buffer.from(JSON.stringify({ ...commit, digest: digest.toString('base64') } satisfies Marker)),
  })
  const [appended] = await writer.append([{ ...changelog, records }, seal])
  return (appended?.baseOffset ?? 0) + records.length
}

/** Closes a transaction of the changelog: what the rows before it stand for. */
export interface Marker extends CommitRecord {
  readonly digest: string
}

export function parseMarker(value: Buffer): Marker {
  return readCommit(value) as Marker
}
