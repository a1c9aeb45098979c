import type { Clock } from '../../common/clock.js'
import type { StoreProvider } from '../../state-stores/key-value-store.js'
import { blockCodec } from '../journal/block-codec.js'
import { journalWriter } from '../journal/journal-writer.js'
import type { NewEntry } from '../journal/entry.js'
import { termOf } from '../journal/term.js'
import type { Log } from '../log/log.js'
import { names } from '../names.js'
import type { Processor } from '../processor.js'
import { journalIn } from './journal-source.js'
import type { JournalSource } from './journal-source.js'
import { PartitionLoad } from './partition-load.js'
import type { LoadLimit } from './partition-load.js'

export interface PreloadOptions {
  readonly log: Log
  readonly stores: StoreProvider
  readonly clock: Clock
  readonly processors: readonly Processor[]
  readonly applicationId: string
  readonly partitions: number
  /** This site: part of what its folds make. */
  readonly site: string
  /** The other site's journal of a domain, wherever it can be read. */
  readonly peerJournal: (domain: string, partition: number) => JournalSource
  /** Names the load: begun again under the same name it goes on where it ended. */
  readonly load: string
  /** Default: the tasks' own stores. */
  readonly storeName?: (domain: string, partition: number) => string
  /** Stores of a base to begin with. */
  readonly baseStoreName?: (domain: string, partition: number) => string
  /** Without a base what was stamped before is left out. */
  readonly fromMs?: number
  /** It makes a base, for later loads to begin with. */
  readonly isBase?: boolean
  /** Memory for rows, all partitions together. */
  readonly rowCacheBytes: number
  readonly onError: (error: Error) => void
}

export interface PreloadProgress {
  /** Folded in this life. */
  readonly entries: number
  /** What the journals held before this time is loaded, ms since 1970; 0: nothing is known to be. */
  readonly loadedTo: number
  readonly eventsPerSecond: number
  /** Until all there is now is loaded; null: not known yet. */
  readonly etaMs: number | null
}

/** Partitions folded at the same time: while one reads, another folds. */
const LOADS_AT_ONCE = 2
/** Room for the terms that the other site has begun and this one has not seen. */
const TERM_GAP = 1000
/** For what a journal does not take: the switch is then tried again. */
const APPEND_MS = 10_000

/** The stores of all tasks, loaded from the history of both sites. (two sites, sections 0 and 4) */
export class Preload {
  readonly #options: PreloadOptions
  readonly #loads: readonly PartitionLoad[]
  readonly #startedAt: number
  readonly #entriesBefore: number
  #remainingAtStart: number

  private constructor(options: PreloadOptions, loads: readonly PartitionLoad[], remaining: number) {
    this.#options = options
    this.#loads = loads
    this.#startedAt = options.clock.monotonic()
    this.#entriesBefore = sumOf(loads, ({ entries }) => entries)
    this.#remainingAtStart = remaining
  }

  /** Clears the stores, or goes on with a load of this name. */
  static async open(options: PreloadOptions): Promise<Preload> {
    const { processors, partitions } = options
    const loads: PartitionLoad[] = []
    try {
      for (const processor of processors) {
        for (let partition = 0; partition < partitions; partition++) {
          loads.push(await PartitionLoad.open(loadOptions(options, processor, partition)))
        }
      }
      return new Preload(options, loads, await remainingOf(loads))
    } catch (thrown) {
      await Promise.all(loads.map((load) => load.close()))
      throw thrown
    }
  }

  get loads(): readonly PartitionLoad[] {
    return this.#loads
  }

  /** What the journals held before this time was left out in some partition, ms since 1970; 0: nothing was. */
  get knownFrom(): number {
    return Math.max(0, ...this.#loads.map((load) => load.knownFrom))
  }

  /** The least journal time that any partition with records has come to; infinity: none has records. */
  get time(): number {
    return Math.min(...this.#loads.map(({ foldState }) => foldState.time).filter((time) => time > 0), Infinity)
  }

  /** Entries folded in this life. */
  get entries(): number {
    return sumOf(this.#loads, ({ entries }) => entries) - this.#entriesBefore
  }

  /** It was left to the tasks by an earlier life. */
  get isDone(): boolean {
    return this.#loads.some(({ isDone }) => isDone)
  }

  /** Folds what there is by now, within the limit. */
  async load(signal: AbortSignal, limit: LoadLimit = {}): Promise<void> {
    const waiting = [...this.#loads]
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next.load(signal, limit)
    }
    await Promise.all(Array.from({ length: LOADS_AT_ONCE }, work))
  }

  async progress(): Promise<PreloadProgress> {
    const elapsedMs = Math.max(1, this.#options.clock.monotonic() - this.#startedAt)
    const remaining = await remainingOf(this.#loads)
    this.#remainingAtStart = Math.max(this.#remainingAtStart, remaining)
    const done = this.#remainingAtStart - remaining
    return {
      entries: this.entries,
      loadedTo: await this.#loadedTo(),
      eventsPerSecond: Math.round((this.entries * 1000) / elapsedMs),
      etaMs: remaining === 0 ? 0 : done === 0 ? null : Math.round((elapsedMs * remaining) / done),
    }
  }

  /**
   * Begins this site's term in its own journals, above all that was loaded: what comes behind is the tasks' to fold, and goes
   * behind the other site's records in every later load.
   */
  async announceTerms(): Promise<void> {
    const { site, load } = this.#options
    await this.#append(({ foldState, processor }) => [
      {
        kind: 'owner',
        epoch: foldState.epoch + TERM_GAP,
        ...termOf(processor),
        preloaded: true,
        instance: `${site}/${load}`,
      },
    ])
  }

  /** Sends what the other site's folds have sent on and did not get into its journals. Answers how much that was. */
  async sendLost(): Promise<number> {
    const { partitions } = this.#options
    const entries = new Map<PartitionLoad, NewEntry[]>()
    for (const { processor, sends } of this.#loads) {
      const inDomain = this.#loads.filter((load) => load.processor === processor)
      for (const { partition, send } of sends.lost(partitions, (target, source) => inDomain[target]?.taken(source))) {
        const target = inDomain[partition]
        if (target === undefined) continue
        const { event, source } = send
        entries.set(target, [...(entries.get(target) ?? []), { kind: 'event', event, source }])
      }
    }
    await this.#append((load) => entries.get(load) ?? [])
    return [...entries.values()].reduce((sum, some) => sum + some.length, 0)
  }

  /** Leaves the stores, closed, to their tasks. */
  async finish(): Promise<void> {
    for (const load of this.#loads) await load.finish()
    await this.close()
  }

  /** Empties the stores and closes them: of a load that was only tried. */
  async discard(): Promise<void> {
    for (const load of this.#loads) await load.clear()
    await this.close()
  }

  async close(): Promise<void> {
    await Promise.all(this.#loads.map((load) => load.close()))
  }

  /** What lies before is loaded in every partition: of those not at their ends the least, else the newest of all. */
  async #loadedTo(): Promise<number> {
    const behind: number[] = []
    for (const load of this.#loads) if ((await load.remaining()) > 0) behind.push(load.foldState.time)
    return behind.length > 0 ? Math.min(...behind) : Math.max(0, ...this.#loads.map((load) => load.foldState.time))
  }

  async #append(entriesOf: (load: PartitionLoad) => readonly NewEntry[]): Promise<void> {
    const { log, clock, applicationId, site, load: name } = this.#options
    await Promise.all(
      this.#loads.map(async (load) => {
        const entries = entriesOf(load)
        if (entries.length === 0) return
        const writer = journalWriter({
          log,
          clock,
          topic: names.journal(applicationId, load.processor.name),
          partition: load.partition,
          codec: blockCodec(load.processor.events),
          source: `http/${site}-${name}`,
        })
        await writer.append(entries, APPEND_MS)
        writer.stop()
      }),
    )
  }
}

function loadOptions(
  options: PreloadOptions,
  processor: Processor,
  partition: number,
): Parameters<typeof PartitionLoad.open>[0] {
  const { log, stores, applicationId, partitions, processors, site, peerJournal, load, rowCacheBytes } = options
  const journal = { topic: names.journal(applicationId, processor.name), partition }
  const storeName = options.storeName ?? names.taskStore
  return {
    log,
    stores,
    processor,
    partition,
    journal,
    changelog: { topic: names.changelog(applicationId, processor.store), partition },
    sources: [journalIn(log, journal, names.siteJournal(site, journal.topic)), peerJournal(processor.name, partition)],
    storeName: storeName(processor.name, partition),
    ...(options.baseStoreName && { baseStoreName: options.baseStoreName(processor.name, partition) }),
    ...(options.fromMs !== undefined && { fromMs: options.fromMs }),
    isBase: options.isBase ?? false,
    load,
    rowCacheBytes: Math.floor(rowCacheBytes / (partitions * processors.length)),
    onUnreadable: options.onError,
  }
}

async function remainingOf(loads: readonly PartitionLoad[]): Promise<number> {
  return (await Promise.all(loads.map((load) => load.remaining()))).reduce((sum, some) => sum + some, 0)
}

function sumOf(loads: readonly PartitionLoad[], of: (load: PartitionLoad) => number): number {
  return loads.reduce((sum, load) => sum + of(load), 0)
}
