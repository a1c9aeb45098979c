import { sleep } from '../../common/clock.js'
import type { Clock } from '../../common/clock.js'
import { otherSite } from '../../processors/site/index.js'
import type { SiteName, SiteRecord } from '../../processors/site/index.js'
import type { KeyValueStore, StoreProvider } from '../../state-stores/key-value-store.js'
import { memoryProvider } from '../../state-stores/memory/provider.js'
import { countingProcessor } from '../../topology/counting-processor.js'
import { openEmbeddedLogAt } from '../../topology/log/embedded/embedded-log.js'
import type { EmbeddedLog } from '../../topology/log/embedded/embedded-log.js'
import type { Processor, Query } from '../../topology/processor.js'
import type { HistoryPart } from '../../topology/preload/mirror.js'
import type { Demand, QueryResult } from '../../topology/streams.js'
import type { ComponentHealth } from './component-health.js'
import type { Peer } from './peer.js'
import type { Site } from './site.js'
import type { SiteSettings } from './site-options.js'
import { SteppedWorld } from './stepped-world.js'
import { testSiteParts } from './test-site-parts.js'

/** A link between the two sites: down it takes nothing, and loses the answers that are on their way; stalled nothing comes back. */
export interface Link {
  isUp: boolean
  isStalled: boolean
}

/** The other site is not waited for longer, as over HTTP. */
const LIMITS_MS = { exchange: 15_000, isHealthy: 6000, history: 30_000, act: 5000, digests: 5000 }

export interface TestSitesOptions {
  readonly settings?: Partial<SiteSettings>
  /** ms by which the secondary's wall clock is ahead. */
  readonly skewMs?: number
  readonly random?: () => number
  /** Of each site; default: the one that counts. */
  readonly processors?: (site: SiteName) => readonly Processor[]
}

/**
 * Two whole sites in one process, over memory, on one clock that the test moves: the same parts as in production, but for HTTP.
 * Either can be crashed and started again on what it left, and the link between them broken.
 */
export class TestSites extends SteppedWorld {
  readonly link: Link = { isUp: true, isStalled: false }
  readonly primary: TestSite
  readonly secondary: TestSite

  constructor(options: TestSitesOptions = {}) {
    super()
    this.primary = new TestSite(this, 'primary', options, 0)
    this.secondary = new TestSite(this, 'secondary', options, options.skewMs ?? 0)
  }

  get both(): readonly TestSite[] {
    return [this.primary, this.secondary]
  }

  of(site: SiteName): TestSite {
    return site === 'primary' ? this.primary : this.secondary
  }

  async start(): Promise<void> {
    await Promise.all(this.both.map((site) => this.while(site.start())))
    await this.advance(3000)
  }

  async stop(): Promise<void> {
    await this.while(Promise.all(this.both.map((site) => site.stop())))
  }

  override tell(): string {
    return this.both.map((site) => JSON.stringify(site.running?.site.record)).join('\n')
  }

  /** No switch is under way, both sites know who is active, and that one consumes. */
  isSteady(): boolean {
    const [a, b] = this.both.map((site) => site.running?.site)
    if (a === undefined || b === undefined) return false
    const isSame = a.record.epoch === b.record.epoch && a.record.step === b.record.step
    return (
      isSame &&
      a.record.phase === 'STEADY' &&
      this.both.every((site) => site.consumes === (site.name === a.record.active))
    )
  }
}

interface RunningSite {
  readonly site: Site
  readonly log: EmbeddedLog
  readonly health: ComponentHealth
  end(): void
}

/** One of the two; its stores outlive it. */
export class TestSite {
  readonly name: SiteName
  readonly stores = memoryProvider()
  running: RunningSite | undefined
  /** Connections of others to it. */
  readonly onCrash = new Set<() => void>()
  /** What its components say is wrong. */
  troubles: readonly string[] = []
  /** Set by a test: its health address as the other site sees it. */
  healthAnswer: (() => boolean) | undefined
  /** Set by a test: told when a check of its health address has failed. */
  onCheckFailed: (() => void) | undefined
  /** Set by a test: it answers, but shows its journals to nobody. */
  isHistoryAway = false
  /** Set by a test: it shows no record of its journals that holds this text, and none behind one. */
  hiddenFrom = ''
  /** Set by a test: told of each change of the register. */
  onRecord: ((record: SiteRecord) => void) | undefined
  /** Set by a test: before each write to a store; throws where that shall fail, and holds it up until it resolves. */
  onWrite: ((store: string) => void | Promise<void>) | undefined
  /** Set by a test: after a store has closed; throws where that shall have failed. */
  onClose: ((store: string) => void) | undefined
  /** Set by a test: throws where its domains shall not stop. */
  onStop: (() => void) | undefined
  readonly #sites: TestSites
  readonly #options: TestSitesOptions
  /** ms by which its wall clock is ahead. */
  skewMs: number
  #incarnations = 0

  constructor(sites: TestSites, name: SiteName, options: TestSitesOptions, skewMs: number) {
    this.#sites = sites
    this.name = name
    this.#options = options
    this.skewMs = skewMs
  }

  get site(): Site {
    if (this.running === undefined) throw new Error(`the ${this.name} site does not run`)
    return this.running.site
  }
  get consumes(): boolean {
    return this.running !== undefined && this.running.site.isConsuming
  }
  get takesTraffic(): boolean {
    return this.running !== undefined && this.running.site.healthReasons().length === 0
  }

  async start(): Promise<void> {
    const { clock, stores, end } = this.#process()
    const log = await openEmbeddedLogAt(stores, 'log', {
      clock,
      newIncarnation: () => `${this.name}-${++this.#incarnations}`,
      onCleanError: () => undefined,
    })
    const { settings, random, processors } = this.#options
    const { site, health } = testSiteParts({
      ...{ name: this.name, log, stores, clock, peer: this.#peer() },
      ...{ ...(settings && { settings }), ...(random && { random }) },
      ...(processors && { processors: processors(this.name) }),
      asDomains: (application) => ({
        application,
        streams: application,
        start: (takenIn) => application.start({ advertisedUrl: `http://${this.name}` }, takenIn),
      }),
      troubles: () => this.troubles,
      onRecord: (record) => this.onRecord?.(record),
      onError: (message) => this.#sites.errors.push(`${this.name} ${message}`),
      onStop: () => this.onStop?.(),
    })
    this.running = { site, log, health, end }
    await site.start()
  }

  /** As by kill -9: what was written stays, nothing is done any more. */
  crash(): void {
    this.running?.end()
    this.running = undefined
    for (const reset of this.onCrash) reset()
    this.onCrash.clear()
  }

  async stop(): Promise<void> {
    const { running } = this
    this.running = undefined
    await running?.site.stop()
    await running?.log.close()
  }

  /** Resolves when the event is in this site's journal; rejects when the site does not take it. */
  async count(key: string, mode = ''): Promise<void> {
    const event = { type: 'Counted', data: { key, mode } }
    await this.site.streams.ingest('counting', [{ key, event, original: null }])
  }

  ask(key: string, demand: Demand = {}): Promise<QueryResult<number>> {
    return this.site.streams.query('counting', countingProcessor.queries[0] as Query<string, number>, key, key, demand)
  }

  async countOf(key: string): Promise<number | undefined> {
    const result = await this.ask(key)
    return result.ok ? result.result : undefined
  }

  /** The other site over the link. */
  #peer(): Peer {
    const sites = this.#sites
    const { name } = this
    const other = (): Site => sites.of(otherSite(this.name)).site
    const mustBeUp = (): void => {
      if (!sites.link.isUp) throw new Error('the link is down')
    }
    const over = async <Result>(
      what: keyof typeof LIMITS_MS,
      call: () => Promise<Result> | Result,
    ): Promise<Result> => {
      mustBeUp()
      if (sites.link.isStalled) await sleep(sites.clock, LIMITS_MS[what])
      if (sites.link.isStalled) throw new Error('no answer')
      // A process that ends in the middle of an answer resets its connections.
      const reset = new Promise<never>((_resolve, reject) => {
        sites.of(otherSite(this.name)).onCrash.add(() => reject(new Error('the connection was reset')))
      })
      reset.catch(() => undefined)
      const answer = await Promise.race([call(), reset])
      mustBeUp()
      return answer
    }
    return {
      url: 'http://other',
      exchange: (record) => over('exchange', () => other().exchange(record)),
      async isHealthy() {
        const site = sites.of(otherSite(name))
        const isHealthy = await over('isHealthy', () => site.answersHealth()).catch(() => false)
        if (!isHealthy) site.onCheckFailed?.()
        return isHealthy
      },
      history: (wanted, signal) =>
        over('history', async () => {
          const parts = await other().history(wanted, 100, signal)
          const { isHistoryAway, hiddenFrom } = sites.of(otherSite(this.name))
          if (isHistoryAway) throw new Error('the history is away')
          return hiddenFrom === '' ? parts : parts.map((part) => cutOffAt(part, hiddenFrom))
        }),
      act: (act, by) => over('act', () => other().act(act, { ...by, forwarded: true })),
      digests: () => over('digests', () => other().digests()),
    }
  }

  answersHealth(): boolean {
    return this.running !== undefined && (this.healthAnswer?.() ?? this.takesTraffic)
  }

  /** What one process has of the world: at its end its stores shut, and its timers never call again. */
  #process(): { readonly clock: Clock; readonly stores: StoreProvider; readonly end: () => void } {
    const { clock } = this.#sites
    const { stores } = this
    const opened = new Set<string>()
    let hasEnded = false
    const unlessEnded = <T>(work: () => Promise<T>): Promise<T> => (hasEnded ? new Promise(() => undefined) : work())
    return {
      clock: {
        now: () => clock.now() + this.skewMs,
        monotonic: () => clock.monotonic(),
        setTimer: (callback, delayMs) =>
          clock.setTimer(() => {
            if (!hasEnded) callback()
          }, delayMs),
      },
      stores: {
        open: (name, options): Promise<KeyValueStore> =>
          unlessEnded(async () => {
            opened.add(name)
            const store = await stores.open(name, options)
            const write: KeyValueStore['write'] = async (...written) => {
              await this.onWrite?.(name)
              return store.write(...written)
            }
            const close: KeyValueStore['close'] = async () => {
              await store.close()
              this.onClose?.(name)
            }
            return Object.create(store, { write: { value: write }, close: { value: close } }) as KeyValueStore
          }),
        setAside: (name, reason) => unlessEnded(() => stores.setAside(name, reason)),
      },
      end() {
        hasEnded = true
        for (const name of opened) stores.crash(name)
      },
    }
  }
}

function cutOffAt(part: HistoryPart, text: string): HistoryPart {
  const records = [...part.records]
  const at = records.findIndex(({ value }) => value?.includes(text) === true)
  const next = records[at]?.offset
  return next === undefined ? part : { ...part, next, records: records.slice(0, at) }
}
