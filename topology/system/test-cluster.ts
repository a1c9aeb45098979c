import { manualClock } from '../../common/manual-clock.js'
import type { ManualClock } from '../../common/manual-clock.js'
import type { KeyValueStore } from '../../state-stores/key-value-store.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { MemoryProvider } from '../../state-stores/memory/provider.js'
import { Application } from '../application.js'
import type { ApplicationOptions } from '../application-options.js'
import { openEmbeddedLogAt } from '../log/embedded/embedded-log.js'
import type { EmbeddedLog } from '../log/embedded/embedded-log.js'
import type { Log, LogRecord, NewRecord } from '../log/log.js'
import { names } from '../names.js'
import { silentObserver } from '../observer.js'
import type { EngineObserver } from '../observer.js'
import { partitionOf } from '../partitioner.js'
import type { Processor } from '../processor.js'
import type { Task } from '../task/task.js'
import { recordsOf, settled } from '../test-kit.js'
import { TestProcess } from './test-process.js'

export interface TestClusterOptions {
  readonly processors: readonly Processor[]
  readonly partitions?: number
  readonly standbyReplicas?: number
}

/** An instance: its application, what its disk holds, and what it was seen to do. */
export interface TestInstance {
  readonly name: string
  readonly application: Application
  /** `domain/partition STATE`, of tasks and (in brackets) of standbys, in order. */
  readonly states: string[]
  readonly setAside: string[]
  readonly errors: string[]
  /** Changelog records that restores have read. */
  readonly restored: () => number
  stop(): Promise<void>
  /** The end of the process, as by kill -9, and the group's going on without it. */
  kill(): Promise<void>
  readonly process: TestProcess
  readonly url: string
  readonly token: string
}

/** How an instance is started. */
export interface InstanceOptions extends Partial<ApplicationOptions> {
  readonly skewMs?: number
  readonly clockRate?: number
}

/** Several instances of one application on one embedded log in one process, each with stores of its own, on one manual clock. */
export class TestCluster {
  readonly clock: ManualClock = manualClock()
  readonly partitions: number
  readonly #options: TestClusterOptions
  readonly #disks = new Map<string, MemoryProvider>()
  readonly #instances = new Set<TestInstance>()
  #log: EmbeddedLog | undefined
  #incarnations = 0
  #starts = 0
  /** What processes have done to the outside, or were told. */
  #activity = 0
  /** Set by a test: puts something between an instance and a store just opened. */
  wrapStore: (instance: string, name: string, store: KeyValueStore) => KeyValueStore = (_i, _n, store) => store
  /** Set by a test: puts something between an instance and the log. */
  wrapLog: (instance: string, log: Log) => Log = (_instance, log) => log

  constructor(options: TestClusterOptions) {
    this.#options = options
    this.partitions = options.partitions ?? 4
  }

  get log(): EmbeddedLog {
    if (this.#log === undefined) throw new Error('the cluster is not open')
    return this.#log
  }

  async open(): Promise<void> {
    this.#log = await openEmbeddedLogAt(memoryProvider(), 'log', {
      clock: this.clock,
      newIncarnation: () => `incarnation-${++this.#incarnations}`,
      onCleanError: () => undefined,
    })
  }

  /** Starts an instance on its disk, as it was left; resolves when nothing moves. */
  async start(name: string, options: InstanceOptions = {}): Promise<TestInstance> {
    const instance = this.create(name, options)
    await this.join(instance)
    await this.settle()
    return instance
  }

  /** An instance on its disk, as it was left, that does nothing yet. */
  create(name: string, options: InstanceOptions = {}): TestInstance {
    const disk = this.#disks.get(name) ?? memoryProvider()
    this.#disks.set(name, disk)
    const instance = this.#instance(name, disk, options)
    this.#instances.add(instance)
    return instance
  }

  /** Rejects when it cannot start; pending for ever when it ends before. */
  join({ application, url, token }: TestInstance): Promise<void> {
    return application.start({ advertisedUrl: url, token })
  }

  /** The next start of this instance finds no stores. */
  wipe(name: string): void {
    this.#disks.delete(name)
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
    await settled(() => this.#activity)
  }

  /** Something happened that others may follow. */
  stir(): void {
    this.#activity++
  }

  /** Appends to an input topic (partition 0 unless given) and waits until nothing moves. */
  async pipe(topic: string, records: NewRecord | readonly NewRecord[], partition = 0): Promise<void> {
    await this.log.append(topic, partition, [records].flat())
    await this.settle()
  }

  /** All records of a topic, by partition and offset. */
  read(topic: string): Promise<(LogRecord & { readonly partition: number })[]> {
    return recordsOf(this.log, topic)
  }

  deadLetters(): Promise<(LogRecord & { readonly partition: number })[]> {
    return this.read(names.deadLetters('test'))
  }

  /** Live tasks of all instances. */
  owners(): Task[] {
    return [...this.#instances].flatMap(({ application }) => application.tasks.filter(({ state }) => state === 'LIVE'))
  }

  /** Digest of every live store, after a commit of all that is folded: `{ 'domain/partition': hex }`. */
  async digests(): Promise<Record<string, string>> {
    const owners = this.owners()
    await Promise.all(owners.map((task) => task.commit({ changelog: false })))
    const names = owners.map((task) => [`${task.processor.name}/${task.partition}`, task.digest.rows.toHex()] as const)
    return Object.fromEntries(names.sort())
  }

  /** As one instance: what is asked goes to the owner. */
  get application(): Pick<Application, 'command'> {
    const ownerOf = (partition: number): Application | undefined =>
      [...this.#instances].find(({ application: { tasks } }) =>
        tasks.some((task) => task.partition === partition && task.state === 'LIVE'),
      )?.application
    return {
      command: (domain, to, event, options) => {
        const partition = 'partition' in to ? to.partition : partitionOf(to.key, this.partitions)
        const owner = ownerOf(partition) ?? [...this.#instances][0]?.application
        if (owner === undefined)
          return Promise.resolve({ ok: false, reason: 'unavailable', message: 'none', retryAfterMs: 0 })
        return owner.command(domain, { partition }, event, options)
      },
    }
  }

  /** `instance: live partitions; partitions stood by for` of each, of the first domain. */
  holdings(): string[] {
    const domain = this.#options.processors[0]?.name
    const numbers = (of: readonly { readonly partition: number }[]): string =>
      of
        .map(({ partition }) => partition)
        .sort((a, b) => a - b)
        .join()
    return [...this.#instances].map(({ name, application: { tasks, standbys } }) => {
      const live = tasks.filter(({ state, processor }) => state === 'LIVE' && processor.name === domain)
      const warm = standbys.filter(({ state, domain: of }) => state === 'RUNNING' && of === domain)
      return `${name}: ${numbers(live)}; ${numbers(warm)}`
    })
  }

  /** All rows of a store but the engine's notes about the store itself. */
  static async rowsOf(store: KeyValueStore): Promise<string[]> {
    const rows: string[] = []
    for await (const page of store.entries({ gte: Buffer.of(0x10) })) {
      for (const [key, value] of page) rows.push(`${key.toString('latin1')} ${value.toString('hex')}`)
    }
    return rows
  }

  async close(): Promise<void> {
    for (const instance of this.#instances) await instance.stop()
    await this.#log?.close()
  }

  #instance(
    name: string,
    disk: MemoryProvider,
    { skewMs = 0, clockRate = 1, ...options }: InstanceOptions,
  ): TestInstance {
    const states: string[] = []
    const setAside: string[] = []
    const errors: string[] = []
    let restored = 0
    const observer: EngineObserver = {
      ...silentObserver,
      onTaskState: (domain, partition, state) => states.push(`${domain}/${partition} ${state}`),
      onStandbyState: (domain, partition, state) => states.push(`(${domain}/${partition} ${state})`),
      onSetAside: (domain, partition, reason) => setAside.push(`${domain}/${partition} ${reason}`),
      onRestore: (_domain, _partition, progress) =>
        (restored += progress.endOffset === progress.offset ? progress.restoredRecords : 0),
      onError: (where, error) => errors.push(`${where}: ${error.message}`),
    }
    const log = this.wrapLog(name, this.log)
    const process = new TestProcess({
      ...{ clock: this.clock, disk, log, skewMs, clockRate },
      wrapStore: (store, opened) => this.wrapStore(name, store, opened),
      onActivity: () => this.stir(),
    })
    const id = `${name}-${++this.#starts}`
    const application = new Application({
      applicationId: 'test',
      instance: id,
      processors: this.#options.processors,
      log: process.log,
      stores: process.stores,
      clock: process.clock,
      partitions: this.partitions,
      standbyReplicas: this.#options.standbyReplicas ?? 1,
      commitIntervalMs: 100,
      changelogIntervalMs: 500,
      journalRetentionMs: 7 * 24 * 3_600_000,
      stateCacheBytes: 4 * 1024 * 1024,
      createInputTopics: true,
      observer,
      onFatal: (error) => errors.push(`fatal: ${error.message}`),
      ...options,
    })
    const instance: TestInstance = {
      ...{ name, application, process, states, setAside, errors },
      ...{ url: `http://${name}`, token: `token of ${id}` },
      restored: () => restored,
      stop: async () => {
        if (!this.#instances.delete(instance)) return
        await application.stop()
        await this.settle()
      },
      kill: async () => {
        this.#instances.delete(instance)
        await process.end()
        await this.settle()
      },
    }
    return instance
  }
}

/** Methods of a class, as an object to spread. */
export function logOf(log: Log): Log {
  return {
    createTopics: (specs) => log.createTopics(specs),
    topic: (name) => log.topic(name),
    topics: () => log.topics(),
    append: (topic, partition, records) => log.append(topic, partition, records),
    offsets: (partition) => log.offsets(partition),
    offsetForTime: (partition, timestampMs) => log.offsetForTime(partition, timestampMs),
    read: (partition, offset, options) => log.read(partition, offset, options),
    join: (options) => log.join(options),
    committed: (group, partition) => log.committed(group, partition),
    writer: (transactionalId) => log.writer(transactionalId),
    close: () => log.close(),
  }
}
