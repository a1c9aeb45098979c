import { instanceInProcess } from '../../api/instances/in-process.js'
import { sleep } from '../../common/clock.js'
import { otherSite } from '../../processors/site/index.js'
import type { SiteName, SiteRecord } from '../../processors/site/index.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import type { MemoryProvider } from '../../state-stores/memory/provider.js'
import { ClusterStreams } from '../../topology/cluster/cluster-streams.js'
import { Peers } from '../../topology/cluster/peers.js'
import { countingProcessor } from '../../topology/counting-processor.js'
import { openEmbeddedLogAt } from '../../topology/log/embedded/embedded-log.js'
import type { EmbeddedLog } from '../../topology/log/embedded/embedded-log.js'
import type { Query } from '../../topology/processor.js'
import { TestNetwork } from '../../topology/system/test-network.js'
import { TestProcess } from '../../topology/system/test-process.js'
import { localStreams } from './local-streams.js'
import type { Peer } from './peer.js'
import type { Site } from './site.js'
import type { SiteSettings } from './site-options.js'
import { SteppedWorld } from './stepped-world.js'
import { testSiteParts } from './test-site-parts.js'

export interface SiteClustersOptions {
  /** Of each site. */
  readonly instances?: number
  readonly settings?: Partial<SiteSettings>
  readonly random?: () => number
}

/** Session of the group: one that is not heard of for so long is counted out. */
const SESSION_MS = 6000
/** The other site is not waited for longer. */
const ANSWER_MS = 5000

/** Two sites of several instances, each on a log of its own as on a cluster, in one process and on a clock that the test moves. */
export class SiteClusters extends SteppedWorld {
  readonly link = { isUp: true }
  readonly primary: SiteCluster
  readonly secondary: SiteCluster

  constructor(options: SiteClustersOptions = {}) {
    super()
    this.primary = new SiteCluster(this, 'primary', options)
    this.secondary = new SiteCluster(this, 'secondary', options)
  }

  get both(): readonly SiteCluster[] {
    return [this.primary, this.secondary]
  }
  get instances(): readonly SiteInstanceProcess[] {
    return this.both.flatMap(({ running }) => running)
  }

  of(site: SiteName): SiteCluster {
    return site === 'primary' ? this.primary : this.secondary
  }

  async start(): Promise<void> {
    for (const site of this.both) await site.start()
    await this.until('the sites stand', () => this.isSteady())
  }

  async stop(): Promise<void> {
    for (const site of this.both) await site.stop()
  }

  override tell(): string {
    return this.instances
      .map(({ name, site }) => `${name} ${site.isConsuming ? 'consumes ' : ''}${JSON.stringify(site.record)}`)
      .join('\n')
  }

  /** No switch is under way, all instances know who is active, and those of that site have all its tasks. */
  isSteady(): boolean {
    const records = this.instances.map(({ site }) => site.record)
    const [first] = records
    if (first === undefined || first.phase !== 'STEADY') return false
    const isSame = records.every(({ epoch, step }) => epoch === first.epoch && step === first.step)
    return (
      isSame &&
      this.both.every((site) => site.running.length > 0) &&
      this.both.every(({ name, running }) =>
        running.every(({ site }) => site.isConsuming === (name === first.active)),
      ) &&
      this.of(first.active).hasAllTasks()
    )
  }
}

/** A process of a site. */
export interface SiteInstanceProcess {
  /** What its components say is wrong; set by a test. */
  troubles: readonly string[]
  readonly name: string
  readonly process: TestProcess
  readonly site: Site
}

/** The instances of one site; its log and their disks outlive them. */
export class SiteCluster {
  readonly name: SiteName
  running: SiteInstanceProcess[] = []
  /** Set by a test: told of each change of the register, by each instance that hears of it. */
  onRecord: ((record: SiteRecord, instance: string) => void) | undefined
  readonly #world: SiteClusters
  readonly #options: SiteClustersOptions
  readonly #network: TestNetwork
  readonly #disks = new Map<string, MemoryProvider>()
  /** Killed, and not yet missed by its group. */
  readonly #dying = new Set<string>()
  #log: EmbeddedLog | undefined
  #incarnations = 0

  constructor(world: SiteClusters, name: SiteName, options: SiteClustersOptions) {
    this.#world = world
    this.name = name
    this.#options = options
    this.#network = new TestNetwork(world.clock, options.random ?? (() => 0.5), () => undefined)
  }

  get names(): readonly string[] {
    return Array.from({ length: this.#options.instances ?? 2 }, (_, index) => `${this.name}-${index + 1}`)
  }
  /** The instance that leads. */
  get leader(): SiteInstanceProcess | undefined {
    return this.running.find(({ site, process }) => site.leads && !process.isPaused)
  }
  get consumes(): boolean {
    return this.running.some(({ site }) => site.isConsuming)
  }
  /** An instance of it says 200 at its health address. */
  get takesTraffic(): boolean {
    const awake = this.running.filter(({ process }) => !process.isPaused)
    return awake.some(({ site }) => site.healthReasons().length === 0)
  }

  hasAllTasks(): boolean {
    const live = this.running.flatMap(({ site }) => site.application.tasks.filter(({ state }) => state === 'LIVE'))
    return new Set(live.map(({ partition }) => partition)).size === this.#partitions
  }
  get #partitions(): number {
    return this.running[0]?.site.application.journal('counting').partitions ?? 0
  }

  async start(): Promise<void> {
    this.#log = await openEmbeddedLogAt(memoryProvider(), 'log', {
      clock: this.#world.clock,
      newIncarnation: () => `${this.name}-${++this.#incarnations}`,
      onCleanError: () => undefined,
    })
    for (const name of this.names) await this.begin(name)
  }

  async stop(): Promise<void> {
    for (const { process } of this.running) process.resume()
    await this.#world.while(Promise.all(this.running.splice(0).map(({ site }) => site.stop())))
    await this.#log?.close()
  }

  /** No process of this name has its disk. */
  isFree(name: string): boolean {
    return !this.#dying.has(name) && !this.running.some((one) => one.name === name)
  }

  /** Starts an instance on what its disk holds; resolves when it acts by the register. */
  async begin(name: string): Promise<void> {
    const started = this.#begin(name)
    await this.#world.while(started.catch(() => undefined))
  }

  /** As by kill -9: its group misses it after a session. */
  async kill(instance: SiteInstanceProcess): Promise<void> {
    const { process } = instance
    this.running = this.running.filter((one) => one !== instance)
    this.#dying.add(instance.name)
    process.pause()
    await sleep(this.#world.clock, SESSION_MS)
    await process.end()
    this.#dying.delete(instance.name)
  }

  /** As by SIGSTOP and, later, SIGCONT: its group misses it after a session, and it learns of that when it goes on. */
  async pause({ process }: SiteInstanceProcess, forMs: number): Promise<void> {
    process.pause()
    await sleep(this.#world.clock, Math.min(SESSION_MS, forMs))
    if (forMs > SESSION_MS) {
      void process.forget()
      await sleep(this.#world.clock, forMs - SESSION_MS)
    }
    process.resume()
  }

  /** Resolves when the event is in this site's journal; rejects when the instance does not take it. */
  async count(key: string, { site }: SiteInstanceProcess): Promise<void> {
    const event = { type: 'Counted', data: { key, mode: '' } }
    await site.streams.ingest('counting', [{ key, event, original: null }])
  }

  /** As any instance answers; undefined: none can. */
  async countOf(key: string, instance = this.running[0]): Promise<number | undefined> {
    const [query] = countingProcessor.queries as readonly Query<string, number>[]
    if (instance === undefined || query === undefined) return undefined
    const result = await instance.site.streams.query('counting', query, key, key, { role: 'active' })
    return result.ok ? result.result : undefined
  }

  async #begin(name: string): Promise<void> {
    const { clock, errors } = this.#world
    if (this.#log === undefined) throw new Error('there is no log')
    const disk = this.#disks.get(name) ?? memoryProvider()
    this.#disks.set(name, disk)
    const process = new TestProcess({ clock, disk, log: this.#log, wrapStore: (_name, store) => store })
    const token = `token of ${name}`
    const url = `http://${name}`
    const peers = new Peers({
      transport: this.#network.transport(process),
      clock: process.clock,
      onError: () => undefined,
    })
    const { settings, random } = this.#options
    const { site } = testSiteParts({
      ...{ name: this.name, log: process.log, stores: process.stores, clock: process.clock, peer: this.#peer(process) },
      ...{ ...(settings && { settings }), ...(random && { random }) },
      asDomains(application) {
        const { directory } = application
        const streams = new ClusterStreams({ local: application, directory, peers, clock: process.clock })
        return {
          ...{ application, streams },
          start: (takenIn) => application.start({ advertisedUrl: url, token }, takenIn),
        }
      },
      troubles: () => instance.troubles,
      onRecord: (record) => this.onRecord?.(record, name),
      onError: (message) => errors.push(`${name} ${message}`),
    })
    const { register } = site
    const local = localStreams(register, () => site.application)
    this.#network.listen(url, process, await instanceInProcess({ local, token }))
    const instance: SiteInstanceProcess = { name, process, site, troubles: [] }
    this.running.push(instance)
    await site.start()
  }

  /** The other site over the link: whichever instance its address leads to passes on to the one that leads. */
  #peer(caller: TestProcess): Peer {
    const world = this.#world
    const others = (): SiteCluster => world.of(otherSite(this.name))
    const mustBeUp = (): void => {
      if (!world.link.isUp) throw new Error('the link is down')
    }
    const over = <Result>(call: (there: SiteInstanceProcess) => Promise<Result>): Promise<Result> =>
      caller.running(async () => {
        mustBeUp()
        const there = others().leader
        if (there === undefined) throw new Error('the other site does not answer')
        const done = new AbortController()
        const late = sleep(world.clock, ANSWER_MS, done.signal).then(() => Promise.reject(new Error('no answer')))
        late.catch(() => undefined)
        const answer = await Promise.race([there.process.running(() => call(there)), late]).finally(() => done.abort())
        mustBeUp()
        return answer
      })
    return {
      url: 'http://other',
      exchange: (record) => over(({ site }) => site.exchange(record)),
      isHealthy: () => over(() => Promise.resolve(others().takesTraffic)),
      history: (wanted, signal) => over(({ site }) => site.history(wanted, 100, signal)),
      act: (act, by) => over(({ site }) => site.act(act, { ...by, forwarded: true })),
      digests: () => over(({ site }) => site.digests()),
    }
  }
}
