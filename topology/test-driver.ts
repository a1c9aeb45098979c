import type { Clock } from '../common/clock.js'
import { manualClock } from '../common/manual-clock.js'
import type { ManualClock } from '../common/manual-clock.js'
import type { KeyValueStore, StoreProvider } from '../state-stores/key-value-store.js'
import { memoryProvider } from '../state-stores/memory/provider.js'
import type { MemoryProvider } from '../state-stores/memory/provider.js'
import { Application } from './application.js'
import type { ApplicationOptions } from './application-options.js'
import { openEmbeddedLogAt } from './log/embedded/embedded-log.js'
import type { EmbeddedLog } from './log/embedded/embedded-log.js'
import type { LogRecord, NewRecord } from './log/log.js'
import { names } from './names.js'
import { silentObserver } from './observer.js'
import type { EngineObserver } from './observer.js'
import type { Processor } from './processor.js'
import { recordsOf, settled } from './test-kit.js'
import type { TaskEnvironment } from './task/environment.js'

export interface TestDriverOptions {
  readonly processors: readonly Processor[]
  readonly partitions?: number
  readonly clock?: ManualClock
  readonly stores?: MemoryProvider
  readonly observer?: Partial<EngineObserver>
  readonly application?: Partial<
    Pick<ApplicationOptions, 'site' | 'commitIntervalMs' | 'changelogIntervalMs' | 'stateCacheBytes'>
  >
}

/** Process starts by what they find: no two of them have one name. */
const starts = new WeakMap<MemoryProvider, number>()

/**
 * Runs a whole topology in memory, on a clock that the test moves: the same engine as in production, on the embedded log
 * over memory stores. Records go in by `pipe`, time goes on by `advance`, outputs are read back from the log; the process
 * can be crashed at any step and started again on what it left. (as Kafka Streams' TopologyTestDriver)
 */
export class TopologyTestDriver {
  readonly clock: ManualClock
  readonly stores: MemoryProvider
  readonly partitions: number
  readonly #options: TestDriverOptions
  #incarnations = 0
  #process: TestProcess | undefined
  #log: EmbeddedLog | undefined
  #application: Application | undefined
  /** Set by a test before `start`: called at each step of each task. */
  probe: TaskEnvironment['probe']
  /** Set by a test: puts something between the engine and a store just opened. */
  wrapStore: (name: string, store: KeyValueStore) => KeyValueStore = (_name, store) => store

  constructor(options: TestDriverOptions) {
    this.#options = options
    this.clock = options.clock ?? manualClock()
    this.stores = options.stores ?? memoryProvider()
    this.partitions = options.partitions ?? 3
  }

  get application(): Application {
    if (this.#application === undefined) throw new Error('the driver is not started')
    return this.#application
  }

  get log(): EmbeddedLog {
    if (this.#log === undefined) throw new Error('the driver is not started')
    return this.#log
  }

  /** Starts (or starts again) and waits until all tasks are live, unless told not to. */
  async start(options: { readonly untilLive: boolean } = { untilLive: true }): Promise<void> {
    this.#process = testProcess(this.clock, this.stores, (name, store) => this.wrapStore(name, store))
    const { clock, stores } = this.#process
    this.#log = await openEmbeddedLogAt(stores, 'log', {
      clock,
      newIncarnation: () => `${this.#options.application?.site ?? ''}incarnation-${++this.#incarnations}`,
      onCleanError: () => undefined,
    })
    const start = (starts.get(this.stores) ?? 0) + 1
    starts.set(this.stores, start)
    this.#application = new Application({
      applicationId: 'test',
      instance: `${this.#options.application?.site ?? ''}start-${start}`,
      processors: this.#options.processors,
      log: this.#log,
      stores,
      clock,
      partitions: this.partitions,
      commitIntervalMs: 100,
      changelogIntervalMs: 1000,
      journalRetentionMs: 7 * 24 * 3_600_000,
      stateCacheBytes: 4 * 1024 * 1024,
      createInputTopics: true,
      observer: { ...silentObserver, ...this.#options.observer },
      onFatal: () => undefined,
      probe: (step, partition) => this.probe?.(step, partition) ?? Promise.resolve(),
      ...this.#options.application,
    })
    await this.#application.start()
    if (options.untilLive) await this.settle()
  }

  /** Appends to an input topic (partition 0 unless given) and waits until all is folded. */
  async pipe(topic: string, records: NewRecord | readonly NewRecord[], partition = 0): Promise<void> {
    await this.log.append(topic, partition, Array.isArray(records) ? (records as NewRecord[]) : [records as NewRecord])
    await this.settle()
  }

  /** Lets time pass in small steps, and all that follows from it. */
  async advance(ms: number, stepMs = 50): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passed))
      await this.settle()
    }
  }

  /** Waits until nothing moves any more at this moment of the clock. */
  async settle(): Promise<void> {
    await settled(() => this.#fingerprint())
  }

  /** All records of a topic, by partition and offset. */
  read(topic: string): Promise<(LogRecord & { readonly partition: number })[]> {
    return recordsOf(this.log, topic)
  }

  deadLetters(): Promise<(LogRecord & { readonly partition: number })[]> {
    return this.read(names.deadLetters('test'))
  }

  /** Digest of every store, after a commit of all that is folded: `{ 'domain/partition': hex }`. */
  async digests(): Promise<Record<string, string>> {
    await Promise.all(this.application.tasks.map((task) => task.commit({ changelog: false })))
    return Object.fromEntries(
      this.application.tasks.map((task) => [`${task.processor.name}/${task.partition}`, task.digest.rows.toHex()]),
    )
  }

  /** The end of the process, as by kill -9: nothing is committed any more, what was written stays. */
  crash(): void {
    this.#process?.end()
    this.#application = undefined
    this.#log = undefined
  }

  async stop(): Promise<void> {
    await this.#application?.stop()
    await this.#log?.close()
    this.#application = undefined
    this.#log = undefined
  }

  /** Names of the tasks' stores. */
  get taskStores(): readonly string[] {
    return this.#options.processors.flatMap(({ name }) =>
      Array.from({ length: this.partitions }, (_, partition) => names.taskStore(name, partition)),
    )
  }

  async #fingerprint(): Promise<string> {
    const parts: (string | number)[] = []
    for (const { name, partitions } of await this.log.topics()) {
      for (let partition = 0; partition < partitions; partition++) {
        parts.push((await this.log.offsets({ topic: name, partition })).end)
      }
    }
    for (const task of this.application.tasks) parts.push(task.state, task.offset, task.committedOffset)
    return parts.join()
  }
}

interface TestProcess {
  readonly clock: Clock
  readonly stores: StoreProvider
  end(): void
}

/** What one process has of the world: at its end its stores shut, and its timers never call again. */
function testProcess(
  clock: ManualClock,
  stores: MemoryProvider,
  wrapStore: TopologyTestDriver['wrapStore'],
): TestProcess {
  let hasEnded = false
  const opened = new Set<string>()
  const unlessEnded = <T>(work: () => Promise<T>): Promise<T> => (hasEnded ? new Promise(() => undefined) : work())
  return {
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimer: (callback, delayMs) =>
        clock.setTimer(() => {
          if (!hasEnded) callback()
        }, delayMs),
    },
    stores: {
      open: (name, options) =>
        unlessEnded(async () => {
          opened.add(name)
          return wrapStore(name, await stores.open(name, options))
        }),
      setAside: (name, reason) => unlessEnded(() => stores.setAside(name, reason)),
    },
    end() {
      hasEnded = true
      for (const name of opened) stores.crash(name)
    },
  }
}
