import type { KeyValueStore, WriteOperation } from '../../state-stores/key-value-store.js'
import { deserializeStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import type { FoldState } from '../task/folder.js'
import { META } from '../task/table-runtime.js'

/** How far a store is loaded; in one batch with the rows, so that a load goes on where a crash has ended it. */
export interface LoadProgress {
  /** Names the load: another one begins with a cleared store. */
  readonly load: string
  /** In each source: where to read on, and the term reached. */
  readonly positions: readonly number[]
  readonly epochs: readonly number[]
  /** The own journal is loaded up to here; what comes after is the task's to fold. */
  readonly ownTo: number
  readonly entries: number
  /** What the journals held before this time was left out, ms since 1970; 0: nothing was. */
  readonly knownFrom: number
  readonly state: FoldState
}

const PROGRESS_KEY = Buffer.from(META + 'load')
const DIGEST_KEY = Buffer.from(META + 'load-digest')
const DONE_KEY = Buffer.from(META + 'loaded')

export function progressOperations(progress: LoadProgress, digest: StoreDigest): WriteOperation[] {
  return [
    { key: PROGRESS_KEY, value: Buffer.from(JSON.stringify(progress)) },
    { key: DIGEST_KEY, value: digest.serialize() },
  ]
}

/** The load is done: the store is a task's from here on, and says which load it is of. */
export function doneOperations(progress: LoadProgress): WriteOperation[] {
  return [
    { key: PROGRESS_KEY, value: null },
    { key: DIGEST_KEY, value: null },
    { key: DONE_KEY, value: Buffer.from(JSON.stringify(progress)) },
  ]
}

export interface FoundProgress {
  readonly progress: LoadProgress
  /** Undefined: the load is done. */
  readonly digest: StoreDigest | undefined
}

/** How far a load has come in this store; undefined: it was never begun here, or was cut short while it cleared the store. */
export async function findProgress(store: KeyValueStore, load: string): Promise<FoundProgress | undefined> {
  const [running, digest, done] = await store.getMany([PROGRESS_KEY, DIGEST_KEY, DONE_KEY])
  const bytes = running ?? done
  if (bytes === undefined) return undefined
  const progress = JSON.parse(bytes.toString()) as LoadProgress
  if (progress.load !== load) return undefined
  return {
    progress,
    digest: running === undefined || digest === undefined ? undefined : deserializeStoreDigest(digest),
  }
}
