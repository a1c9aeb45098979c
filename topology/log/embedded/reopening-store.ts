import { StoreError } from '../../../state-stores/errors.js'
import type { Entry, KeyRange, KeyValueStore, StoreProvider, TextEntry } from '../../../state-stores/key-value-store.js'

/**
 * A store that comes back: after a failed write a store refuses all later ones until it is opened anew, so the next write
 * does that first. When the disk is still full, that write fails and the one after tries again.
 */
export async function reopeningStore(stores: StoreProvider, name: string): Promise<KeyValueStore> {
  let current = await stores.open(name, { verifyWrites: true })
  let opened = Promise.resolve(current)
  const { location } = current
  let hasFailed = false
  let closing: Promise<void> | undefined

  async function reopen(former: Promise<KeyValueStore>): Promise<KeyValueStore> {
    // Rejects when the last attempt to open failed: then there is nothing to close.
    await former.then((store) => store.close()).catch(() => undefined)
    current = await stores.open(name, { verifyWrites: true })
    return current
  }

  async function changing(work: (store: KeyValueStore) => Promise<void>): Promise<void> {
    if (hasFailed && closing === undefined) {
      hasFailed = false
      opened = reopen(opened)
      opened.catch(() => (hasFailed = true))
    }
    try {
      await work(await opened)
    } catch (error) {
      hasFailed ||= isStoreError(error, 'STORE_WRITE_FAILED')
      throw explained(error)
    }
  }

  async function reading<T>(work: (store: KeyValueStore) => Promise<T>): Promise<T> {
    try {
      return await work(await opened)
    } catch (error) {
      throw explained(error)
    }
  }

  async function* pages<E>(read: (store: KeyValueStore) => AsyncIterable<readonly E[]>): AsyncIterable<readonly E[]> {
    try {
      yield* read(await opened)
    } catch (error) {
      throw explained(error)
    }
  }

  /** Work that a reopening cut short met a closed store, but the log is not closed. */
  function explained(error: unknown): unknown {
    if (closing !== undefined || !isStoreError(error, 'STORE_CLOSED')) return error
    return new StoreError('STORE_WRITE_FAILED', `the store ${location} is opened anew after a failed write`, {
      details: { location },
    })
  }

  return {
    location,
    get openIterators() {
      return current.openIterators
    },
    get: (key) => reading((store) => store.get(key)),
    getMany: (keys) => reading((store) => store.getMany(keys)),
    write: (operations, options) => changing((store) => store.write(operations, options)),
    clear: (range) => changing((store) => store.clear(range)),
    entries: (range?: KeyRange): AsyncIterable<readonly Entry[]> => pages((store) => store.entries(range)),
    texts: (range?: KeyRange): AsyncIterable<readonly TextEntry[]> => pages((store) => store.texts(range)),
    verify: (inTurn) => reading((store) => store.verify(inTurn)),
    close: () =>
      (closing ??= opened.then(
        (store) => store.close(),
        () => undefined,
      )),
  }
}

function isStoreError(error: unknown, code: StoreError['code']): boolean {
  return error instanceof StoreError && error.code === code
}
