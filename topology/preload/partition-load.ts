import { isDamage } from '../../state-stores/errors.js'
import type { StoreProvider, KeyValueStore } from '../../state-stores/key-value-store.js'
import { createStoreDigest } from '../../state-stores/digest.js'
import type { StoreDigest } from '../../state-stores/digest.js'
import { blockCodec } from '../journal/block-codec.js'
import type { Log, TopicPartition } from '../log/log.js'
import type { Processor, SourcePosition } from '../processor.js'
import { commitOperations, distrustOperations } from '../task/commit-record.js'
import { Folder } from '../task/folder.js'
import type { FolderOptions, FoldState } from '../task/folder.js'
import { freeze } from '../task/freeze.js'
import { lackAll, listOf } from '../task/lacking-keys.js'
import { prefixRange, RowStore } from '../task/row-store.js'
import { foldSegment, segmentsOf } from '../task/segment.js'
import { engineTables, LACKING } from '../task/table-runtime.js'
import { History } from './history.js'
import type { HistoryBatch } from './history.js'
import type { JournalSource } from './journal-source.js'
import { doneOperations, findProgress, progressOperations } from './load-progress.js'
import type { FoundProgress, LoadProgress } from './load-progress.js'
import { PendingSends } from './pending-sends.js'

export interface PartitionLoadOptions {
  readonly log: Log
  readonly stores: StoreProvider
  readonly processor: Processor
  readonly partition: number
  /** The own journal and changelog; the journal's source is the first of `sources`. */
  readonly journal: TopicPartition
  readonly changelog: TopicPartition
  readonly sources: readonly JournalSource[]
  readonly storeName: string
  /** Names the load: with another name it begins anew, from a cleared store. */
  readonly load: string
  /** A store loaded before, as far as it is: the load begins with its rows. */
  readonly baseStoreName?: string
  /** Without a base what was stamped before is left out. */
  readonly fromMs?: number
  /** It is never left to a task: all of the own journal belongs to it. */
  readonly isBase?: boolean
  readonly rowCacheBytes: number
  readonly onUnreadable: (error: Error) => void
}

/** What of the history is folded. */
export interface LoadLimit {
  /** What was stamped before only. */
  readonly beforeMs?: number
  /** Default true. False: the other site goes on, so own records of a later term than its last wait for what belongs before them. */
  readonly isWhole?: boolean
}

/** Rows held in memory before they are written. */
const MAX_DIRTY_ROWS = 10_000
const SEGMENT_ENTRIES = 1000
/** Name of the load that makes a base. */
export const BASE_LOAD = 'base'
/** Behind meta rows and lists of lacking keys. */
const FIRST_ROW = Buffer.from([LACKING.charCodeAt(0) + 1])
/** Keys of one list of those that the changelog lacks. */
const LIST_KEYS = 5000

/**
 * The pre-load of one task's store from the history of both sites: cleared, folded without outputs, effects or answers, and
 * left as a task can go on from: the own journal from where it ended when the load began. Begun again under the same name it
 * goes on where it ended.
 */
export class PartitionLoad {
  readonly #options: PartitionLoadOptions
  readonly #store: KeyValueStore
  readonly #rows: RowStore
  readonly #folder: Folder
  readonly #digest: StoreDigest
  readonly #history: History
  readonly #positions: number[]
  readonly #sends = new PendingSends()
  readonly #ownTo: number
  readonly #knownFrom: number
  #entries: number
  #journal = ''
  /** What the processor keeps for queries. */
  readonly memory: unknown
  #isDone: boolean

  private constructor(
    options: PartitionLoadOptions,
    store: KeyValueStore,
    progress: LoadProgress,
    digest?: StoreDigest,
  ) {
    const { processor, partition, sources } = options
    this.#options = options
    this.memory = processor.memory?.()
    this.#store = store
    this.#rows = new RowStore(store, processor.tables, options.rowCacheBytes)
    this.#digest = digest ?? createStoreDigest()
    this.#isDone = digest === undefined
    this.#positions = [...progress.positions]
    this.#ownTo = progress.ownTo
    this.#knownFrom = progress.knownFrom
    this.#entries = progress.entries
    const codec = blockCodec(processor.events)
    this.#folder = new Folder(this.#folderOptions(codec), { ...progress.state })
    const { onUnreadable } = options
    this.#history = new History(
      { codec, sources, positions: progress.positions, partition, onUnreadable },
      progress.epochs,
    )
  }

  /** Goes on with the load of this name, or clears the store and begins it. */
  static async open(options: PartitionLoadOptions): Promise<PartitionLoad> {
    const store = await options.stores.open(options.storeName, { verify: true })
    try {
      const found = (await goOn(options, store)) ?? (await begin(options, store))
      const load = new PartitionLoad(options, store, found.progress, found.digest)
      await load.#rows.loadResident()
      return load
    } catch (thrown) {
      await store.close()
      throw thrown
    }
  }

  get partition(): number {
    return this.#options.partition
  }
  get processor(): Processor {
    return this.#options.processor
  }
  get rows(): RowStore {
    return this.#rows
  }
  /** The last record of the own journal that is, or will be, part of it. */
  get ownOffset(): number {
    return Math.max(0, this.#ownTo - 1)
  }
  /** What the folds remember besides rows. */
  get foldState(): FoldState {
    return this.#folder.state
  }
  get journalTime(): number {
    return this.#folder.state.time
  }
  get digest(): StoreDigest {
    return this.#digest
  }
  get entries(): number {
    return this.#entries
  }
  /** What the journals held before this time was left out; 0: nothing was. */
  get knownFrom(): number {
    return this.#knownFrom
  }
  get sends(): PendingSends {
    return this.#sends
  }
  /** It was left to the task by an earlier life. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Records still to be read, as far as known. */
  async remaining(): Promise<number> {
    if (this.#isDone) return 0
    const ends = await Promise.all(this.#options.sources.map((source) => source.offsets()))
    return ends.reduce((sum, { end }, source) => {
      const to = source === 0 ? Math.min(end, this.#ownTo) : end
      return sum + Math.max(0, to - (this.#positions[source] ?? 0))
    }, 0)
  }

  /**
   * Folds what there is by now, within the limit. Rejects with what log or store reject with, and with the signal's reason.
   */
  async load(signal: AbortSignal, { beforeMs, isWhole = true }: LoadLimit = {}): Promise<void> {
    if (this.#isDone) return
    const { sources } = this.#options
    const ends = await Promise.all(
      sources.map(async (source, index) => {
        const end = beforeMs === undefined ? Infinity : await source.positionOf(beforeMs)
        return index === 0 ? Math.min(end, this.#ownTo) : end
      }),
    )
    this.#history.limit(ends, (source) => {
      if (beforeMs !== undefined) return 'cutOff'
      return isWhole || source === 0 ? 'never' : 'always'
    })
    for (let batch = await this.#history.next(); batch !== undefined; batch = await this.#history.next()) {
      signal.throwIfAborted()
      await this.#fold(batch)
      if (this.#rows.dirtyRows >= MAX_DIRTY_ROWS) await this.#write()
    }
    await this.#write()
  }

  /** The highest position folded of a source. */
  taken(source: string): Pick<SourcePosition, 'offset' | 'index'> | undefined {
    const rows = this.#rows.state(engineTables.sources).resident
    return rows?.get(source) as Pick<SourcePosition, 'offset' | 'index'> | undefined
  }

  /** Leaves the store to its task. */
  async finish(): Promise<void> {
    if (this.#isDone) return
    const { log, journal, changelog, processor } = this.#options
    await this.#write()
    await this.#lackRows()
    const commit = {
      ...this.#folder.state,
      offset: this.#ownTo,
      foldedBy: processor.foldVersion,
      outputs: 0,
      incarnation: (await log.topic(journal.topic))?.incarnation ?? '',
      changelog: {
        incarnation: (await log.topic(changelog.topic))?.incarnation ?? '',
        end: (await log.offsets(changelog)).end,
        // It has nothing of this load.
        offset: -1,
      },
    }
    const operations = [...commitOperations(commit, this.#digest.serialize()), ...doneOperations(this.#progress())]
    await this.#store.write(operations, { sync: true })
    this.#isDone = true
  }

  clear(): Promise<void> {
    return this.#store.clear()
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #fold({ source, records, next }: HistoryBatch): Promise<void> {
    this.#journal = this.#options.sources[source]?.journal ?? ''
    for (const { items } of segmentsOf(this.#folder, records, SEGMENT_ENTRIES)) {
      await foldSegment(this.#rows, this.#folder, items)
      this.#entries += items.length
      items.length = 0
    }
    this.#positions[source] = next
  }

  async #write(): Promise<void> {
    const { operations } = freeze(this.#rows.tables, this.#digest)
    await this.#store.write(operations(progressOperations(this.#progress(), this.#digest)))
    this.#rows.finishCommit()
  }

  #progress(): LoadProgress {
    return {
      load: this.#options.load,
      positions: this.#positions,
      epochs: this.#history.epochs,
      ownTo: this.#ownTo,
      entries: this.#entries,
      knownFrom: this.#knownFrom,
      state: this.#folder.state,
    }
  }

  /** The changelog holds nothing of these rows: the task's next write to it brings them all. */
  async #lackRows(): Promise<void> {
    let lists = 0
    for (const { runtime } of this.#rows.tables) {
      let keys: string[] = []
      const put = async (): Promise<void> => {
        if (keys.length > 0) await this.#store.write([listOf(`load/${lists++}`, keys)])
        keys = []
      }
      for await (const page of this.#store.entries(prefixRange(runtime.prefix))) {
        for (const [key] of page) keys.push(key.toString())
        if (keys.length >= LIST_KEYS) await put()
      }
      await put()
    }
  }

  #folderOptions(codec: FolderOptions['codec']): FolderOptions {
    const { processor, partition } = this.#options
    const journal = (): string => this.#journal
    return {
      processor,
      partition,
      // What a site's folds send on carries that site's name.
      get journal() {
        return journal()
      },
      rows: this.#rows,
      codec,
      onConsequence: (consequence) => {
        if (consequence.kind === 'send') this.#sends.add(consequence)
      },
      onCount: () => undefined,
    }
  }
}

/** How far the load of this name has come, where the sources still have what comes next. */
async function goOn(
  { load, sources }: Pick<PartitionLoadOptions, 'load' | 'sources'>,
  store: KeyValueStore,
): Promise<FoundProgress | undefined> {
  const found = await findProgress(store, load)
  if (found === undefined) return undefined
  const offsets = await Promise.all(sources.map((source) => source.offsets()))
  const isThere = offsets.every(({ start, end }, source) => {
    const position = found.progress.positions[source] ?? 0
    return position >= start && position <= end
  })
  return isThere || found.digest === undefined ? found : undefined
}

/** No later start trusts what is there; then it is cleared. What the changelog holds is not its state. */
async function begin(options: PartitionLoadOptions, store: KeyValueStore): Promise<FoundProgress> {
  const { log, journal, changelog, load, isBase = false } = options
  await store.write(distrustOperations, { sync: true })
  await store.clear()
  if (!isBase) {
    // A former owner of the task writes nothing to its changelog any more.
    await (await log.writer(`${journal.topic}-${journal.partition}`)).close()
    await lackAll(store, log, changelog)
  }
  const base = (await copyBase(options, store)) ?? (await fromStart(options))
  const ownTo = isBase ? Number.MAX_SAFE_INTEGER : (await log.offsets(journal)).end
  const progress = { ...base.progress, load, ownTo }
  await store.write(progressOperations(progress, base.digest), { sync: true })
  return { progress, digest: base.digest }
}

type Base = Required<FoundProgress> & { readonly digest: StoreDigest }

/** The rows of the base, without what it says of itself. */
async function copyBase(options: PartitionLoadOptions, store: KeyValueStore): Promise<Base | undefined> {
  const { baseStoreName, stores, sources, fromMs } = options
  if (baseStoreName === undefined) return undefined
  // The journals tell the same, only not so soon.
  const base = await stores.open(baseStoreName, { verify: true }).catch(unlessDamaged)
  if (base === undefined) return undefined
  try {
    const found = await goOn({ load: BASE_LOAD, sources }, base)
    if (found?.digest === undefined) return undefined
    // An empty one stands for all that the journals hold.
    if (fromMs !== undefined && found.progress.state.time === 0) return undefined
    for await (const page of base.entries({ gte: FIRST_ROW })) {
      await store.write(page.map(([key, value]) => ({ key, value })))
    }
    return { progress: found.progress, digest: found.digest }
  } finally {
    await base.close()
  }
}

function unlessDamaged(thrown: unknown): undefined {
  if (!isDamage(thrown)) throw thrown
}

async function fromStart({ processor, sources, fromMs }: PartitionLoadOptions): Promise<Base> {
  const starts = await Promise.all(
    sources.map(async (source) => (fromMs === undefined ? (await source.offsets()).start : source.positionOf(fromMs))),
  )
  const settings = JSON.parse(JSON.stringify(processor.settings)) as unknown
  const progress: LoadProgress = {
    load: '',
    positions: starts,
    epochs: starts.map(() => 0),
    ownTo: 0,
    entries: 0,
    knownFrom: fromMs ?? 0,
    state: { time: 0, epoch: 0, foldVersion: processor.foldVersion, settings },
  }
  return { progress, digest: createStoreDigest() }
}
