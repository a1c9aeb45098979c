import { sleep, within } from '../../common/clock.js'
import { ensureError } from '../../common/errors.js'
import type {
  ActRequest,
  ActResult,
  DrillResult,
  Overlap,
  SiteAct,
  SiteControl,
  SiteStatus,
  SiteView,
  TaskDigest,
} from '../../api/site/site-control.js'
import { initialRecord, isNewer, otherSite, roleOf } from '../../processors/site/index.js'
import type { Role, SiteAnswer, SiteEvent, SiteName, SiteRecord, SwitchRequested } from '../../processors/site/index.js'
import type { SwitchMoved } from '../../processors/site/events.js'
import type { Application } from '../../topology/application.js'
import { names } from '../../topology/names.js'
import type { HistoryPart, HistoryWanted } from '../../topology/preload/mirror.js'
import type { PeerJournals } from '../../topology/preload/peer-journals.js'
import type { PreloadOptions } from '../../topology/preload/preload.js'
import { serveHistory } from '../../topology/preload/serve-history.js'
import type { Readiness, Streams } from '../../topology/streams.js'
import { ownTopics } from '../../topology/topics.js'
import { automaticSwitch } from './automatic-switch.js'
import { BaseKeeper, baseStoreName } from './base-keeper.js'
import { DomainHost, hostStreams } from './domain-host.js'
import { newestDigests } from './digests.js'
import { SiteError } from './errors.js'
import { Drills } from './drill.js'
import { FellowInstances } from './fellow-instances.js'
import { journalEnds } from './journal-ends.js'
import { overlapBegan, overlapSince } from './overlap.js'
import { PeerContact } from './peer-contact.js'
import { loadOptions, peerJournalsOf } from './history-of.js'
import { PeerWatch } from './peer-watch.js'
import { Consuming } from './consuming.js'
import { copyJournals, hasHistory } from './copy-journals.js'
import { registerClient } from './register-client.js'
import { RegisterTail } from './register-tail.js'
import type { By, RegisterClient } from './register-client.js'
import { SiteHealth } from './site-health.js'
import type { SiteOptions } from './site-options.js'
import { SiteActs } from './site-acts.js'
import { NO_PROGRESS, Switching } from './switching.js'

const TICK_MS = 1000
const READY_POLL_MS = 10
const FOLLOW_MS = 200
/** In that time the instances of the other site hear of a move, also where the one that leads it is gone. */
const HEARD_MS = 500
const NO_ROLE: Role = { takesTraffic: false, consumes: false, takesEvents: false }

/**
 * An instance of one of two sites. All act by the site's register; the one that has it leads: it talks with the other site, copies
 * its journals, and does the work of a switch to this one. Everything else runs in the application of the domains, while this
 * site is the one to run it. (two sites)
 */
export class Site implements SiteControl {
  readonly #options: SiteOptions
  readonly #host: DomainHost
  readonly #mirror: PeerJournals
  readonly #load: (load: string) => PreloadOptions
  readonly #watch: PeerWatch
  readonly #base: BaseKeeper
  readonly #consuming: Consuming
  readonly #health: SiteHealth
  readonly #tail: RegisterTail
  readonly #stop = new AbortController()
  readonly #loops: Promise<void>[] = []
  #record: SiteRecord = initialRecord
  /** The newest that the other site has shown. */
  #shown: SiteRecord = initialRecord
  readonly #register: RegisterClient
  readonly #fellows: FellowInstances
  readonly #contact: PeerContact
  readonly #acts: SiteActs
  readonly #drills: Drills
  #overlap: Overlap | null = null
  /** Of one that is to be told. */
  #overlapFrom: number | undefined
  #gaveWayAt = Number.NEGATIVE_INFINITY
  #hearing: Promise<void> | undefined
  readonly #switching: Switching
  /** The other site was heard, or has failed: the register's word can be acted upon. */
  #isSettled = false
  /** An earlier life has seen it. */
  #peerHasWorked = false
  readonly streams: Streams

  constructor(options: SiteOptions) {
    this.#options = options
    const { site, log, clock, partitions, peer, settings, random, onError } = options
    this.#host = new DomainHost(options.newDomains, clock)
    this.#mirror = peerJournalsOf(options)
    this.#load = loadOptions(options, this.#mirror)
    this.#watch = new PeerWatch({
      clock,
      intervalMs: settings.checkIntervalMs,
      threshold: settings.failureThreshold,
      isHealthy: () => peer.isHealthy(),
      random,
    })
    this.#base = new BaseKeeper({
      clock,
      preload: this.#load,
      windowMs: Math.max(settings.manualWindowMs, settings.automaticWindowMs),
      mayRun: () => this.#isSettled && !this.role.consumes && !this.isConsuming && !this.#switching.isUnderWay,
      onError: (error) => onError('base', error),
    })
    this.#register = registerClient(options)
    this.#fellows = new FellowInstances(this.#register)
    this.#contact = new PeerContact({ clock, peer, record: () => this.#record, silenceMs: this.#silenceMs })
    this.#acts = new SiteActs({
      ...{ clock, site, peer, contact: this.#contact, watch: this.#watch, manualWindowMs: settings.manualWindowMs },
      record: () => this.record,
      request: (data, by) => this.#request(data, by),
      abort: (epoch) => {
        const { term = 0 } = this.#register
        return this.#move({ epoch, term, move: 'aborted', error: '', report: '' })
      },
      hearPeer: () => this.#hearPeer(),
    })
    this.#drills = new Drills({
      ...{ clock, peer, peerApplicationId: options.peerApplicationId, mirror: this.#mirror, base: this.#base },
      silenceMs: this.#silenceMs,
      preload: (load) => ({ ...this.#load(load), baseStoreName }),
    })
    this.#tail = new RegisterTail(log, options.register.topic)
    this.#consuming = new Consuming({
      clock,
      host: this.#host,
      register: this.#register,
      record: () => this.#record,
      mayConsume: () => this.role.consumes,
      isSwitching: () => this.#switching.isUnderWay,
      troubles: () => this.#health.told(),
      isEnding: () => this.#stop.signal.aborted,
      onError: (thrown) => this.#wentWrong('domains', thrown),
    })
    this.#switching = new Switching({
      ...{ site: options, register: this.#register, mirror: this.#mirror, preload: this.#load, base: this.#base },
      ...{ drills: this.#drills, domains: this.#consuming, contact: this.#contact, silenceMs: this.#silenceMs },
      record: () => this.#record,
      role: () => this.role,
      isSiteHealthy: () => this.#health.componentReasons().length === 0,
      mayBegin: () => this.#isSettled && !this.#stop.signal.aborted,
      move: (epoch, term, move, error, report) => this.#move({ epoch, term, move, error, report }),
      application: () => this.#host.application,
      onError: (where, thrown) => this.#wentWrong(where, thrown),
    })
    this.#health = new SiteHealth({
      ...{ site, health: options.health, register: options.register.application },
      domains: () => this.#host.application,
      role: () => this.role,
      hasJustGivenWay: () => clock.monotonic() - this.#gaveWayAt < HEARD_MS,
      record: () => this.#record,
      isSettled: () => this.#isSettled,
      isJoining: () => this.#fellows.areThere && !this.leads,
      others: () => this.#fellows.noted,
    })
    this.streams = hostStreams({
      host: this.#host,
      partitions,
      takesEvents: () => this.role.takesEvents,
      loaded: (domain, partition) => this.#switching.loaded(domain, partition),
      readiness: () => this.readiness(),
    })
  }

  get #silenceMs(): number {
    const { checkIntervalMs, failureThreshold } = this.#options.settings
    return checkIntervalMs * failureThreshold
  }

  get site(): SiteName {
    return this.#options.site
  }
  get peerUrl(): string {
    return this.#options.peer.url
  }
  get token(): string {
    return this.#options.token
  }
  /** The newest that is known here, also where it cannot be logged. */
  get record(): SiteRecord {
    return isNewer(this.#shown, this.#record) ? this.#shown : this.#record
  }
  /** It has the register: of several instances the one that does what a site does once. */
  get leads(): boolean {
    return this.#register.term !== undefined
  }
  get leaderUrl(): string | undefined {
    return this.leads ? undefined : this.#register.leaderUrl
  }
  get isServing(): boolean {
    return this.#host.application.directory.instances.length > 0
  }
  get role(): Role {
    // Others count an instance as gone that the group has not heard of: it must not act beside them.
    if (!this.#isSettled || (this.#fellows.areThere && !this.#register.isCurrent)) return NO_ROLE
    const role = roleOf(this.site, this.#record)
    // What this site cannot log takes from it at once, and gives it nothing.
    const isBehind = isNewer(this.#shown, this.#record) && !roleOf(this.site, this.#shown).consumes
    return isBehind ? NO_ROLE : role
  }
  /** The application of the register. */
  get register(): Application {
    return this.#options.register.application
  }
  /** The application of the domains, running or waiting. */
  get application(): Application {
    return this.#host.application
  }

  /** Its tasks run, or are being started or stopped. */
  get isConsuming(): boolean {
    return this.#consuming.isActive
  }

  /** What is not as it should be, for the component checks. */
  troubles(): readonly string[] {
    return this.#health.troubles()
  }

  /** Why its health address does not say 200: its role, and the component checks of all its instances. */
  healthReasons(): readonly string[] {
    return this.#health.reasons()
  }

  readiness(): Readiness {
    return this.#health.readiness()
  }

  /** Brings the register up, and begins to act by it. Errors: those of log and stores. */
  async start(stopping = this.#stop.signal): Promise<void> {
    const { register, log, processors, applicationId, partitions, settings, clock, health, onError } = this.#options
    await log.createTopics(
      ownTopics(processors, { applicationId, partitions, journalRetentionMs: settings.journalRetentionMs }),
    )
    await this.#mirror.open()
    this.#peerHasWorked = await hasHistory(this.#mirror, processors, partitions)
    await register.start()
    await this.#tail.next()
    for (;;) {
      const found = await this.#register.read()
      if (found !== undefined) {
        this.#record = found.record
        break
      }
      await sleep(clock, READY_POLL_MS, stopping)
      if (stopping.aborted) return
    }
    await this.#consuming.begin()
    const { signal } = this.#stop
    const copying = {
      ...{ mirror: this.#mirror, clock, term: () => this.#register.term },
      onError: (error: Error) => onError('mirror', error),
    }
    this.#loops.push(
      this.#tick(signal),
      this.#follow(signal),
      ...(this.#options.sharesLog ? [] : [copyJournals(copying, signal)]),
      this.#watch.run(signal),
      health.run(signal),
      this.#base.run(signal),
    )
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#switching.stop()
    await Promise.all(this.#loops)
    await this.#consuming.end()
    await this.#options.register.application.stop()
  }

  act(act: SiteAct, request: ActRequest): Promise<ActResult> {
    return this.#acts.act(act, request)
  }

  status(): SiteStatus {
    const { peer } = this.#options
    const { lagMs } = this.#mirror
    const { record } = this
    const isThere = record.target === otherSite(this.site)
    return {
      site: this.site,
      record,
      base: this.#base.time,
      mirrorLagMs: lagMs === undefined ? null : Math.round(lagMs),
      overlap: this.#overlap ?? this.#contact.view?.overlap ?? null,
      peer: { url: peer.url, healthy: this.#watch.isHealthy },
      ...(isThere ? (this.#contact.view?.progress ?? NO_PROGRESS) : this.#switching.progress),
    }
  }

  async exchange(record: SiteRecord): Promise<SiteView & { readonly accepted: boolean }> {
    const logged = this.#receive(record).catch((thrown: unknown) => this.#wentWrong('site', thrown))
    this.#isSettled = true
    await this.#consuming.apply()
    await logged
    await this.#consuming.apply()
    return { ...(await this.#view(record)), accepted: !isNewer(this.#record, record) }
  }

  history(wanted: readonly HistoryWanted[], waitMs: number, signal: AbortSignal): Promise<readonly HistoryPart[]> {
    const { processors, applicationId, partitions } = this.#options
    const journals = new Set(processors.map(({ name }) => names.journal(applicationId, name)))
    // Whoever asks is to read nothing else in this cluster.
    const known = wanted.filter(({ topic, partition }) => journals.has(topic) && partition < partitions)
    return serveHistory(this.#options, known, waitMs, AbortSignal.any([signal, this.#stop.signal]))
  }

  digests(): Promise<readonly TaskDigest[]> {
    return newestDigests(this.#options)
  }

  drill(signal: AbortSignal): Promise<DrillResult> {
    return this.#drills.run(AbortSignal.any([signal, this.#stop.signal]))
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const settleAt = clock.monotonic() + this.#silenceMs
    while (!signal.aborted) {
      const due = clock.monotonic() + TICK_MS
      try {
        await this.#hearRegister()
        if (this.leads || !this.#isSettled) await this.#hearPeerSoon()
        if (clock.monotonic() >= settleAt) this.#isSettled = true
        if (this.leads) {
          await this.#decide()
          await this.#switching.look()
          this.#switching.begin()
        }
        void this.#consuming.apply().catch(() => undefined)
      } catch (thrown) {
        if (!this.#stop.signal.aborted) this.#wentWrong('site', thrown)
      }
      await sleep(clock, Math.max(0, due - clock.monotonic()), signal)
    }
  }

  /** Acts by the register's changes as they come to the log, and as soon as it is not this instance's turn any more. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { clock, onError } = this.#options
    while (!signal.aborted) {
      this.#switching.endOutdated()
      if (this.isConsuming && !this.role.consumes) void this.#consuming.apply().catch(() => undefined)
      try {
        for (const record of await this.#tail.next()) this.#learn(record)
      } catch (thrown) {
        onError('site', ensureError(thrown))
      }
      await sleep(clock, FOLLOW_MS, signal)
    }
  }

  /** What the register knows, of all instances of this site too. */
  async #hearRegister(): Promise<void> {
    const { hasBegun } = this.#consuming
    const found = await this.#register.read()
    if (found === undefined) return
    this.#fellows.note(found)
    this.#learn(found.record)
    const { instance } = this.#register
    const consumes = found.instances.some((one) => one.instance === instance && one.consumes)
    if (hasBegun && !consumes) await this.#consuming.stop()
    if (this.leads) await this.#fellows.strikeOffGone()
  }

  /** One that answers late, or does not, holds up no tick: what it says is acted by as it comes. */
  async #hearPeerSoon(): Promise<void> {
    this.#hearing ??= this.#hearPeer()
      .catch((thrown: unknown) => this.#wentWrong('site', thrown))
      .finally(() => (this.#hearing = undefined))
    await within(this.#options.clock, TICK_MS, this.#hearing)
  }

  /** The two records meet: the newer is taken by both. */
  async #hearPeer(): Promise<void> {
    const view = await this.#contact.exchange().catch(() => undefined)
    if (view === undefined) return
    await this.#receive(view.record)
    this.#isSettled = true
  }

  /** Acts by the other site's record where it is newer. Rejects when it cannot be logged. */
  async #receive(record: SiteRecord): Promise<void> {
    if (isNewer(record, this.#shown)) this.#givingWay(record, () => (this.#shown = record))
    if (isNewer(record, this.#record)) await this.#command({ type: 'RecordReceived', data: record })
  }

  async #decide(): Promise<void> {
    const { site, settings, clock, health } = this.#options
    if (!settings.automaticSwitch || !this.#isSettled) return
    const wanted = automaticSwitch(site, this.#record, settings, {
      nowMs: clock.now(),
      isHealthy: health.isHealthy,
      goodForMs: health.goodForMs,
      peerHasFailed: this.#watch.hasFailed,
      peerHasWorked: this.#peerHasWorked || this.#watch.wasHealthy,
      peerConsumes: this.#contact.hasConsumed(settings.checkIntervalMs),
    })
    if (wanted !== undefined) await this.#switchHere(wanted === 'return')
  }

  async #switchHere(oldAlive: boolean): Promise<void> {
    const { automaticWindowMs: windowMs } = this.#options.settings
    const data = { target: this.site, kind: 'automatic' as const, oldAlive, windowMs }
    await this.#request(data, { reason: oldAlive ? 'healthy again' : 'the other site failed' })
  }

  async #request(data: SwitchRequested['data'], by: By): Promise<SiteAnswer['outcome']> {
    // Judged by what is logged, so all that is known comes before it.
    await this.#receive(this.#shown)
    const { outcome } = await this.#command({ type: 'SwitchRequested', data }, by)
    this.#switching.begin()
    return outcome
  }

  /** Tried again at the next tick, but for what leaves it open whether this site still consumes: then the process ends. */
  #wentWrong(where: string, thrown: unknown): void {
    const error = ensureError(thrown)
    if (error instanceof SiteError) this.#options.onFatal(error)
    else this.#options.onError(where, error)
  }

  async #command(event: SiteEvent, by?: By): Promise<SiteAnswer> {
    const answer = await this.#register.command(event, by)
    this.#learn(answer.record)
    return answer
  }

  async #move(data: SwitchMoved['data']): Promise<boolean> {
    const { outcome } = await this.#command({ type: 'SwitchMoved', data })
    return outcome === 'moved'
  }

  #learn(record: SiteRecord): void {
    const before = this.#record
    if (!isNewer(record, before)) return
    this.#givingWay(record, () => (this.#record = record))
    this.#options.onRecord(record, before)
    if (record.active !== before.active) this.#watch.reset()
    this.#switching.endOutdated()
    void this.#consuming.apply().then(
      () => this.#tellOverlap(),
      () => undefined,
    )
  }

  /** Notes when a record takes from this site its traffic, which the other is there to take, or what both have done at once. */
  #givingWay(record: SiteRecord, take: () => void): void {
    const before = this.role
    take()
    const { takesTraffic, consumes } = this.role
    if (before.takesTraffic && !takesTraffic && record.oldAlive) this.#gaveWayAt = this.#options.clock.monotonic()
    if (before.consumes && !consumes) this.#overlapFrom ??= overlapBegan(record)
  }

  async #tellOverlap(): Promise<void> {
    const from = this.#overlapFrom
    if (from === undefined) return
    this.#overlapFrom = undefined
    try {
      this.#overlap = await overlapSince(from, this.#options)
      this.#options.onOverlap(this.#overlap)
    } catch (thrown) {
      this.#wentWrong('overlap', thrown)
    }
  }

  /** To one who shows this record: it is true of all instances that act by it, or by a newer one. */
  async #view(shown: SiteRecord): Promise<SiteView> {
    const { health } = this.#options
    const consumes = this.isConsuming || (await this.#fellows.consume(shown))
    const ends = consumes ? [] : await journalEnds(this.#options)
    const [progress, overlap] = [this.#switching.progress, this.#overlap]
    return { record: this.#record, healthy: health.isHealthy, consumes, ends, progress, overlap }
  }
}
