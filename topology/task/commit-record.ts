import { deserializeStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import type { FoldState } from './folder.js'
import { META } from './table-runtime.js'

/** What a commit says of itself, in the store (same atomic batch as the rows) and in the changelog's marker. */
export interface CommitRecord extends FoldState {
  /** Journal offset that the rows stand for: the next record to fold. */
  readonly offset: number
  /** Of the journal topic: another one is another history. */
  readonly incarnation: string
  /** Version of the fold by whose code the newest rows were made; an owner's record in the journal may name an older one. */
  readonly foldedBy: number
  /** Journal offset up to which outputs declared `once` are out; a repeated fold may not have come there yet. */
  readonly outputs: number
  /** The changelog topic's incarnation, and after the last write to it its end and the journal offset that its marker told. */
  readonly changelog: { readonly incarnation: string; readonly end: number; readonly offset: number }
}

const COMMIT_KEY = Buffer.from(META + 'commit')
export const DIGEST_KEY = Buffer.from(META + 'digest')

export const commitKeys = [COMMIT_KEY, DIGEST_KEY] as const

export function commitOperations(commit: CommitRecord, digest: Buffer): WriteOperation[] {
  return [
    { key: COMMIT_KEY, value: Buffer.from(JSON.stringify(commit)) },
    { key: DIGEST_KEY, value: digest },
  ]
}

/** Takes a store's position away, so that no later start trusts it. */
export const distrustOperations: readonly WriteOperation[] = [{ key: COMMIT_KEY, value: null }]

export function parseCommit(
  commit: Buffer | undefined,
  digest: Buffer | undefined,
): { readonly commit: CommitRecord; readonly digest: StoreDigest } | undefined {
  if (commit === undefined || digest === undefined) return undefined
  return { commit: readCommit(commit), digest: deserializeStoreDigest(digest) }
}

/** What earlier versions wrote as a commit. */
type Written = Omit<CommitRecord, 'foldedBy' | 'outputs' | 'changelog'> &
  Partial<Pick<CommitRecord, 'foldedBy' | 'outputs'>> & {
    readonly changelog: Omit<CommitRecord['changelog'], 'offset'> & { readonly offset?: number }
  }

/** A commit as it was written; what earlier versions did not say is filled in. */
export function readCommit(bytes: Buffer): CommitRecord {
  const written = JSON.parse(bytes.toString()) as Written
  const { foldVersion, changelog } = written
  return { foldedBy: foldVersion, outputs: 0, ...written, changelog: { offset: -1, ...changelog } }
}

/** Journal offset that a store stands for; undefined: it has no position. */
export async function positionOf(store: KeyValueStore): Promise<number | undefined> {
  const [commit, digest] = await store.getMany(commitKeys)
  return parseCommit(commit, digest)?.commit.offset
}
