import { createStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import { StoreError } from '../../state-stores/errors.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import { EngineError } from '../errors.js'
import { commitKeys, parseCommit } from './commit-record.js'
import type { CommitRecord } from './commit-record.js'
import type { TaskEnvironment } from './environment.js'
import { isEmpty, restoreFromChangelog } from './restore.js'

/** A task's store and what it stands for. */
export interface OpenedStore {
  readonly store: KeyValueStore
  readonly commit: CommitRecord
  readonly digest: StoreDigest
  /** Journal offset that the changelog stands for, as far as known. */
  readonly changelogOffset: number
}

/**
 * Opens the task's store where it stands, or rebuilds it: from the changelog, else from the journal's start. A store that
 * is damaged, or of another history (its position lies beyond the journal's end, or its journal was another topic), or older
 * than the journal reaches back, is set aside, saying why. Errors: JOURNAL_GAP, STORE_IN_USE, STORE_NOT_A_DIRECTORY.
 */
export async function openTaskStore(environment: TaskEnvironment, signal: AbortSignal): Promise<OpenedStore> {
  const { log, journalTopic, partition } = environment
  const journal = await log.offsets({ topic: journalTopic, partition })
  const incarnation = (await log.topic(journalTopic))?.incarnation ?? ''
  const local = await openLocal(environment, incarnation, journal)
  if (local !== undefined) return local
  const store = await openStore(environment)
  const restored = await restore(environment, store, incarnation, signal)
  const opened = restored ?? { ...(await openFresh(environment)), changelogOffset: 0 }
  const { offset } = opened.commit
  if (offset < journal.start) {
    await opened.store.close()
    throw new EngineError(
      'JOURNAL_GAP',
      `journal ${journalTopic}/${partition} starts at offset ${journal.start}, but the newest state stands at ${offset}`,
      { details: { topic: journalTopic, partition, from: offset, to: journal.start } },
    )
  }
  return opened
}

/** The store as an earlier life left it, when it can be gone on from. */
async function openLocal(
  environment: TaskEnvironment,
  incarnation: string,
  journal: { readonly start: number; readonly end: number },
): Promise<OpenedStore | undefined> {
  let store: KeyValueStore | undefined
  try {
    store = await openStore(environment)
    const [commit, digest] = await store.getMany(commitKeys)
    const found = parseCommit(commit, digest)
    if (found === undefined) {
      if (!(await isEmpty(store))) {
        await setAside(environment, store, 'it has rows but no position')
        return
      }
      await store.close()
      return undefined
    }
    const { offset } = found.commit
    const wrong =
      found.commit.incarnation !== incarnation
        ? 'it stands for another journal topic of the same name'
        : offset > journal.end
          ? `it stands at offset ${offset}, beyond the journal's end ${journal.end}`
          : offset < journal.start
            ? `it stands at offset ${offset}, before the journal's start ${journal.start}`
            : undefined
    if (wrong !== undefined) {
      await setAside(environment, store, wrong)
      return
    }
    return { store, commit: found.commit, digest: found.digest, changelogOffset: -1 }
  } catch (thrown) {
    if (!(thrown instanceof StoreError) || thrown.code !== 'STORE_CORRUPT') {
      await store?.close()
      throw thrown
    }
    return setAside(environment, store, thrown.message)
  }
}

async function restore(
  environment: TaskEnvironment,
  store: KeyValueStore,
  incarnation: string,
  signal: AbortSignal,
): Promise<OpenedStore | undefined> {
  const { log, changelogTopic, partition, processor, observer } = environment
  try {
    const changelog = { topic: changelogTopic, partition }
    const onProgress = observer.onRestore.bind(observer)
    const marker = await restoreFromChangelog(log, changelog, store, processor.tables, signal, onProgress)
    if (marker?.incarnation === incarnation) {
      const found = parseCommit(...((await store.getMany(commitKeys)) as [Buffer | undefined, Buffer | undefined]))
      if (found !== undefined) return { store, ...found, changelogOffset: marker.offset }
    }
    if (marker === undefined) {
      await store.close()
      return undefined
    }
    await setAside(environment, store, 'the changelog stands for another journal topic of the same name')
  } catch (thrown) {
    if (!(thrown instanceof EngineError) || thrown.code !== 'CHANGELOG_MISMATCH') {
      await store.close()
      throw thrown
    }
    observer.onError(thrown)
    await setAside(environment, store, thrown.message)
  }
  return undefined
}

async function openFresh(environment: TaskEnvironment): Promise<Omit<OpenedStore, 'changelogOffset'>> {
  const { log, journalTopic, processor } = environment
  const incarnation = (await log.topic(journalTopic))?.incarnation ?? ''
  const commit = { offset: 0, incarnation, time: 0, epoch: 0, foldVersion: processor.foldVersion, settings: null }
  return { store: await openStore(environment), commit, digest: createStoreDigest() }
}

function openStore({ stores, storeName, settings }: TaskEnvironment): Promise<KeyValueStore> {
  return stores.open(storeName, { cacheBytes: settings.blockCacheBytes })
}

async function setAside(
  environment: TaskEnvironment,
  store: KeyValueStore | undefined,
  reason: string,
): Promise<undefined> {
  await store?.close()
  environment.observer.onSetAside(reason, await environment.stores.setAside(environment.storeName, reason))
  return undefined
}
