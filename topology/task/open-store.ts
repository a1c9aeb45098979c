import { createStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import { isDamage } from '../../state-stores/errors.js'
import type { KeyValueStore, StoreOptions } from '../../state-stores/key-value-store.js'
import { EngineError } from '../errors.js'
import { LogError } from '../log/errors.js'
import { CHANGELOG_DELETE_RETENTION_MS } from '../topics.js'
import { ChangelogFollower } from './changelog-follower.js'
import { commitKeys, parseCommit } from './commit-record.js'
import type { CommitRecord } from './commit-record.js'
import type { TaskEnvironment } from './environment.js'
import { lackAll } from './lacking-keys.js'
import { findOutputPosition } from './once-outputs.js'
import type { OutputPosition } from './once-outputs.js'
import { isEmpty, restoreFromChangelog, throwIfStopped } from './restore.js'
import type { RestoreProgress } from './restore.js'

/** What opening a store needs of its task, or standby. */
export interface StoreEnvironment extends Pick<
  TaskEnvironment,
  'processor' | 'partition' | 'journalTopic' | 'changelogTopic' | 'storeName' | 'log' | 'clock' | 'stores'
> {
  readonly settings: Pick<TaskEnvironment['settings'], 'blockCacheBytes'>
  readonly observer: Pick<TaskEnvironment['observer'], 'onRestore' | 'onSetAside' | 'onError'>
  /** How far the changelog is read, whether a store is rebuilt or brought on. */
  readonly onRead: (done: number, total: number) => void
}

/** A task's store and what it stands for. */
export interface OpenedStore {
  readonly store: KeyValueStore
  readonly commit: CommitRecord
  readonly digest: StoreDigest
  /** Journal offset that the changelog stands for, as far as known. */
  readonly changelogOffset: number
  /** How far outputs declared `once` are out. */
  readonly outputs: OutputPosition
}

/** A store, and from which offset of the changelog on there may be output positions beyond its commit. */
type FoundStore = Omit<OpenedStore, 'outputs'> & { readonly outputsFrom: number }

/** What the logs are now that a store or a marker must fit. */
interface Logs {
  readonly incarnation: string
  readonly start: number
  readonly end: number
  readonly changelog: Omit<CommitRecord['changelog'], 'offset'>
}

/**
 * Opens the task's store where it stands and brings it on by the changelog, or rebuilds it: from the changelog, else from the
 * journal's start. A store is set aside, saying why, when it is damaged, of another history (its position lies beyond the
 * end of a log, or a log is another topic), older than the journal reaches back, ahead of the changelog by another
 * fold version, or when the changelog does not bring it to the state that its marker sealed. Errors: JOURNAL_GAP,
 * STORE_IN_USE, STORE_NOT_A_DIRECTORY, TASK_NOT_RUNNING when `signal` ends a restore.
 */
export async function openTaskStore(environment: StoreEnvironment, signal: AbortSignal): Promise<OpenedStore> {
  const { journalTopic, partition } = environment
  const logs = await logsOf(environment)
  const left = await openLeft(environment, logs, signal)
  const opened = isFound(left) ? left : await openFresh(environment, logs, left)
  const { offset } = opened.commit
  if (offset < logs.start) {
    await opened.store.close()
    throw new EngineError(
      'JOURNAL_GAP',
      `journal ${journalTopic}/${partition} starts at offset ${logs.start}, but the newest state stands at ${offset}`,
      { details: { topic: journalTopic, partition, from: offset, to: logs.start } },
    )
  }
  return orClose(opened.store, async () => ({ ...opened, outputs: await outputsOf(environment, opened, logs) }))
}

/**
 * Opens the store of a standby as far as the changelog brings it; without a position the changelog has none yet. Errors: those
 * of `openTaskStore` but JOURNAL_GAP.
 */
export async function openStandbyStore(
  environment: StoreEnvironment,
  signal: AbortSignal,
): Promise<Pick<OpenedStore, 'store'> & { readonly position: Pick<OpenedStore, 'commit' | 'digest'> | undefined }> {
  const logs = await logsOf(environment)
  const left = await openLeft(environment, logs, signal)
  return isFound(left) ? { store: left.store, position: left } : { store: left, position: undefined }
}

/** What an earlier life, or the changelog, has left; else an empty store. */
async function openLeft(
  environment: StoreEnvironment,
  logs: Logs,
  signal: AbortSignal,
): Promise<FoundStore | KeyValueStore> {
  const local = await openLocal(environment, logs, signal)
  return isFound(local) ? local : await restore(environment, logs, signal, local)
}

function isFound(left: FoundStore | KeyValueStore): left is FoundStore {
  return 'commit' in left
}

/** Outputs before the commit are out, and those that it knew of; in the changelog stands how many more. */
async function outputsOf(environment: StoreEnvironment, opened: FoundStore, logs: Logs): Promise<OutputPosition> {
  const { log, changelogTopic, partition } = environment
  const changelog = { topic: changelogTopic, partition }
  const { offset, outputs, incarnation } = opened.commit
  const committed = { offset: Math.max(offset, outputs), incarnation }
  const found = await findOutputPosition(log, changelog, opened.outputsFrom, committed)
  return found.offset > logs.end ? committed : found
}

async function logsOf({ log, journalTopic, changelogTopic, partition }: StoreEnvironment): Promise<Logs> {
  const incarnationOf = async (name: string): Promise<string> => {
    const topic = await log.topic(name)
    // Brokers may not know it for a moment: that is no other topic.
    if (topic === undefined) throw new LogError('TOPIC_UNKNOWN', `no topic ${name}`)
    return topic.incarnation
  }
  const { end } = await log.offsets({ topic: changelogTopic, partition })
  return {
    incarnation: await incarnationOf(journalTopic),
    ...(await log.offsets({ topic: journalTopic, partition })),
    changelog: { incarnation: await incarnationOf(changelogTopic), end },
  }
}

/** Why rows that stand for this commit cannot be gone on from; undefined: they can. */
function misfit({ offset, incarnation }: CommitRecord, logs: Logs): string | undefined {
  if (incarnation !== logs.incarnation) return 'stands for another journal topic of the same name'
  if (offset > logs.end) return `stands at offset ${offset}, beyond the journal's end ${logs.end}`
  return undefined
}

/** As `misfit`, of a store of this instance's own. */
function misfitOfStore(commit: CommitRecord, logs: Logs): string | undefined {
  const { incarnation, end } = commit.changelog
  const wrong = misfit(commit, logs)
  if (wrong !== undefined) return wrong
  if (incarnation !== logs.changelog.incarnation) return 'was written to another changelog topic of the same name'
  if (end > logs.changelog.end)
    return `was written to a changelog up to ${end}, which now ends at ${logs.changelog.end}`
  return undefined
}

/** The store as an earlier life, or a standby's, left it, when it can be gone on from; else an empty one. */
async function openLocal(
  environment: StoreEnvironment,
  logs: Logs,
  signal: AbortSignal,
): Promise<FoundStore | KeyValueStore> {
  let store: KeyValueStore | undefined
  try {
    store = await openStore(environment, { verify: true })
    const found = parseCommit(...(await commitOf(store)))
    if (found !== undefined) {
      const caughtUp = await catchUp(environment, { store, ...found }, logs, signal)
      if (typeof caughtUp !== 'string') return caughtUp
      await setAside(environment, store, `it ${caughtUp}`)
    } else if (await isEmpty(store)) {
      return store
    } else {
      await setAside(environment, store, 'it has rows but no position')
    }
  } catch (thrown) {
    const reason = reasonToRebuild(thrown)
    if (reason === undefined) {
      await store?.close()
      throw thrown
    }
    await setAside(environment, store, reason)
  }
  return openStore(environment)
}

/** What makes a store useless; undefined: another try may do. */
function reasonToRebuild(thrown: unknown): string | undefined {
  if (isDamage(thrown)) return thrown.message
  if (thrown instanceof EngineError && thrown.code === 'CHANGELOG_MISMATCH') return thrown.message
  return undefined
}

/** Applies what the changelog holds beyond the store, up to its end; or says why the store cannot be gone on from. */
async function catchUp(
  { log, clock, changelogTopic, partition, processor, onRead }: StoreEnvironment,
  { store, commit, digest }: Pick<OpenedStore, 'store' | 'commit' | 'digest'>,
  logs: Logs,
  signal: AbortSignal,
): Promise<FoundStore | string> {
  const wrong = misfitOfStore(commit, logs)
  if (wrong !== undefined) return wrong
  const changelog = { topic: changelogTopic, partition }
  const { tables, foldVersion } = processor
  const follower = new ChangelogFollower({ log, changelog, store, tables, position: { commit, digest } })
  const [from, to] = [commit.changelog.end, logs.changelog.end]
  for (let next = from; next < to; { next } = await follower.advance()) {
    throwIfStopped(signal)
    onRead(next - from, to - from)
  }
  await follower.forgetLacking()
  const reached = follower.commit ?? commit
  const changelogOffset = follower.newestMarker?.offset ?? commit.changelog.offset
  if (reached.offset > commit.offset && clock.now() - commit.time > CHANGELOG_DELETE_RETENTION_MS) {
    return 'is older than the changelog keeps what was deleted: rows that are gone may still be there'
  }
  if (reached.offset > changelogOffset && reached.foldedBy !== foldVersion) {
    return `is ahead of the changelog by fold version ${reached.foldedBy}, and this is ${foldVersion}`
  }
  if (reached.offset < logs.start) return `stands at offset ${reached.offset}, before the journal's start ${logs.start}`
  return {
    ...{ store, digest: follower.digest, changelogOffset, outputsFrom: reached.changelog.end },
    commit: { ...reached, changelog: { ...logs.changelog, offset: changelogOffset } },
  }
}

/** Fills an empty store from the changelog; answers an empty one where that has no state that fits. */
async function restore(
  environment: StoreEnvironment,
  logs: Logs,
  signal: AbortSignal,
  store: KeyValueStore,
): Promise<FoundStore | KeyValueStore> {
  const { log, changelogTopic, partition, processor, observer, onRead } = environment
  try {
    const changelog = { topic: changelogTopic, partition }
    const onProgress = (progress: RestoreProgress): void => {
      const { startOffset, offset, endOffset } = progress
      onRead(offset - startOffset, endOffset - startOffset)
      observer.onRestore(progress)
    }
    const marker = await restoreFromChangelog(log, changelog, store, processor.tables, signal, onProgress)
    const found = parseCommit(...(await commitOf(store)))
    if (marker === undefined || found === undefined) return store
    const wrong = misfit(marker, logs)
    if (wrong === undefined) {
      const commit = { ...found.commit, changelog: { ...logs.changelog, offset: marker.offset } }
      const outputsFrom = marker.changelog.end
      return { store, commit, digest: found.digest, changelogOffset: marker.offset, outputsFrom }
    }
    await setAside(environment, store, `the changelog ${wrong}`)
  } catch (thrown) {
    if (!(thrown instanceof EngineError) || thrown.code !== 'CHANGELOG_MISMATCH') {
      await store.close()
      throw thrown
    }
    observer.onError(thrown)
    await setAside(environment, store, thrown.message)
  }
  return openStore(environment)
}

/** An empty store. What the changelog holds is not its state: the next write mends that. */
async function openFresh(environment: StoreEnvironment, logs: Logs, store: KeyValueStore): Promise<FoundStore> {
  const { log, changelogTopic: topic, partition, processor } = environment
  const { incarnation } = logs
  const changelog = { ...logs.changelog, offset: -1 }
  await orClose(store, () => lackAll(store, log, { topic, partition }))
  const { foldVersion } = processor
  const commit = {
    offset: 0,
    incarnation,
    changelog,
    time: 0,
    epoch: 0,
    foldVersion,
    foldedBy: foldVersion,
    outputs: 0,
    settings: null,
  }
  return { store, commit, digest: createStoreDigest(), changelogOffset: 0, outputsFrom: 0 }
}

async function commitOf(store: KeyValueStore): Promise<[Buffer | undefined, Buffer | undefined]> {
  const [commit, digest] = await store.getMany(commitKeys)
  return [commit, digest]
}

/** A store that is not gone on with must not stay open: the next try could not open it. */
async function orClose<Result>(store: KeyValueStore, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (thrown) {
    await store.close()
    throw thrown
  }
}

function openStore(
  { stores, storeName, settings }: StoreEnvironment,
  options: Pick<StoreOptions, 'verify'> = {},
): Promise<KeyValueStore> {
  return stores.open(storeName, { cacheBytes: settings.blockCacheBytes, ...options })
}

async function setAside(
  { stores, storeName, observer }: StoreEnvironment,
  store: KeyValueStore | undefined,
  reason: string,
): Promise<void> {
  await store?.close()
  observer.onSetAside(reason, await stores.setAside(storeName, reason))
}
