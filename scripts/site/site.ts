import { sleep } from '../../common/clock.js'
import { ensureError, PulsefoldError } from '../../common/errors.js'
import type {
  ActRequest,
  ActResult,
  DrillReport,
  SiteAct,
  SiteControl,
  SiteProgress,
  SiteStatus,
  SiteView,
  TaskDigest,
} from '../../api/site/site-control.js'
import {
  initialRecord,
  isNewer,
  otherSite,
  recordQuery,
  roleOf,
  SITE_KEY,
  SITE_REGISTER,
} from '../../processors/site/index.js'
import type { Role, SiteAnswer, SiteEvent, SiteName, SiteRecord } from '../../processors/site/index.js'
import type { ReportedMove } from '../../processors/site/moves.js'
import type { Application } from '../../topology/application.js'
import { names } from '../../topology/names.js'
import { Mirror } from '../../topology/preload/mirror.js'
import type { HistoryPart, HistoryWanted } from '../../topology/preload/mirror.js'
import { sharedJournals } from '../../topology/preload/peer-journals.js'
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
import { runDrill } from './drill.js'
import { journalEnds } from './journal-ends.js'
import type { LoadedCopy } from './loading-streams.js'
import { PeerWatch } from './peer-watch.js'
import type { SiteOptions } from './site-options.js'
import { SwitchRun } from './switch-run.js'

const TICK_MS = 1000
const MIRROR_PAUSE_MS = 50
const MIRROR_RETRY_MS = 1000
const COMMAND_MS = 10_000
const READY_POLL_MS = 10
const NO_PROGRESS: SiteProgress = { loadedTo: 0, eventsPerSecond: 0, etaMs: null, events: 0 }

/**
 * One of two sites: keeps the register, acts by it, copies the other site's journals, watches it, and takes over when asked or
 * when it fails. Everything else runs in the application of the domains, while this site is the one to run it. (two sites)
 */
export class Site implements SiteControl {
  readonly #options: SiteOptions
  readonly #host: DomainHost
  readonly #mirror: PeerJournals
  readonly #watch: PeerWatch
  readonly #base: BaseKeeper
  readonly #stop = new AbortController()
  readonly #loops: Promise<void>[] = []
  #record: SiteRecord = initialRecord
  #peerView: (SiteView & { readonly at: number }) | undefined
  #run: SwitchRun | undefined
  #progress: SiteProgress = NO_PROGRESS
  /** The other site was heard, or has failed: the register's word can be acted upon. */
  #isSettled = false
  #applying: Promise<void> = Promise.resolve()
  readonly streams: Streams

  constructor(options: SiteOptions) {
    this.#options = options
    const { site, log, clock, processors, partitions, peer, settings, random, onError } = options
    this.#host = new DomainHost(options.newDomains)
    const other = { log, clock, site: otherSite(site), applicationId: options.peerApplicationId }
    this.#mirror = options.sharesLog
      ? sharedJournals(other)
      : new Mirror({
          ...other,
          domains: processors.map(({ name }) => name),
          partitions,
          retentionMs: settings.journalRetentionMs,
          readPeer: peer.history,
          onError: (error) => onError('mirror', error),
        })
    this.#watch = new PeerWatch({
      clock,
      intervalMs: settings.checkIntervalMs,
      threshold: settings.failureThreshold,
      isHealthy: () => peer.isHealthy(),
      random,
    })
    this.#base = new BaseKeeper({
      clock,
      preload: (load) => this.#preloadOptions(load),
      windowMs: Math.max(settings.manualWindowMs, settings.automaticWindowMs),
      mayRun: () => this.#isSettled && !this.role.consumes && this.#host.isStopped && this.#run === undefined,
      onError: (error) => onError('base', error),
    })
    this.streams = hostStreams({
      host: this.#host,
      partitions,
      takesEvents: () => this.role.takesEvents,
      loaded: (domain, partition) => this.#loaded(domain, partition),
      readiness: () => this.readiness(),
    })
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
  get record(): SiteRecord {
    return this.#record
  }
  get role(): Role {
    const role = roleOf(this.site, this.#record)
    return this.#isSettled ? role : { takesTraffic: false, consumes: false, takesEvents: false }
  }
  /** The application of the domains, running or waiting. */
  get application(): Application {
    return this.#host.application
  }

  /** Its tasks run, or are being started or stopped. */
  get isConsuming(): boolean {
    return !this.#host.isStopped
  }

  /** What is not as it should be, for the component checks. */
  troubles(): readonly string[] {
    const domains = this.role.consumes ? this.#host.application.readiness().reasons : []
    return [...this.#options.register.readiness().reasons, ...domains]
  }

  /** The site's word for its health address: its role, and the component checks. */
  trafficTroubles(): readonly string[] {
    if (this.role.takesTraffic) return []
    if (!this.#isSettled) return [`the ${otherSite(this.site)} site was not heard yet`]
    return [`the ${this.#record.active} site is active`]
  }

  readiness(): Readiness {
    const reasons =
      this.#isSettled || this.#options.register.readiness().ready ? this.troubles() : ['the register is not up yet']
    const restoring = this.role.consumes ? this.#host.application.readiness().restoring : []
    return { ready: reasons.length === 0, reasons, restoring }
  }

  /** Brings the register up, and begins to act by it. Errors: those of log and stores. */
  async start(stopping = this.#stop.signal): Promise<void> {
    const { register, log, processors, applicationId, partitions, settings, clock, health } = this.#options
    await log.createTopics(
      ownTopics(processors, { applicationId, partitions, journalRetentionMs: settings.journalRetentionMs }),
    )
    await this.#mirror.open()
    await register.start()
    while (!register.readiness().ready && !stopping.aborted) await sleep(clock, READY_POLL_MS, stopping)
    const found = await register.query(SITE_REGISTER, recordQuery, SITE_KEY, {})
    if (found.ok) this.#record = found.result
    const { signal } = this.#stop
    this.#loops.push(
      this.#tick(signal),
      ...(this.#options.sharesLog ? [] : [this.#copy(signal)]),
      this.#watch.run(signal),
      health.run(signal),
      this.#base.run(signal),
    )
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#run?.stop()
    await Promise.all(this.#loops)
    await this.#applying.catch(() => undefined)
    await this.#host.stop()
    await this.#options.register.stop()
  }

  async act(act: SiteAct, { actor, reason, forwarded }: ActRequest): Promise<ActResult> {
    const { peer, settings } = this.#options
    const target = act === 'abort' ? this.#record.target : act === 'failover' ? 'secondary' : 'primary'
    if (target === null) return { ok: false, reason: 'conflict', message: 'there is no switch under way' }
    if (target !== this.site) {
      const { phase, active } = this.#record
      if (this.#isSwitchingTo(this.site)) return this.#conflict()
      if (act !== 'abort' && active === target && phase === 'STEADY') return this.#answer(act, 'done')
      const message = `the ${target} site, which must do it, does not answer; ask again`
      if (forwarded) return { ok: false, reason: 'unreachable', message }
      const result = await peer
        .act(act, { actor, reason })
        .catch((): ActResult => ({ ok: false, reason: 'unreachable', message }))
      // So that this site, too, tells what it has brought about.
      if (result.ok) await this.#hearPeer().catch(() => undefined)
      return result
    }
    if (act === 'abort') {
      const moved = await this.#move(this.#record.epoch, 'aborted', '', '')
      if (moved) return this.#answer(act, 'done')
      return { ok: false, reason: 'conflict', message: `in phase ${this.#record.phase} a switch goes on to its end` }
    }
    const data = {
      target,
      kind: 'manual' as const,
      oldAlive: await this.#peerAnswers(),
      windowMs: settings.manualWindowMs,
    }
    const { outcome } = await this.#command({ type: 'SwitchRequested', data }, { actor, reason })
    this.#work()
    if (outcome === 'opposite') return this.#conflict()
    // So that the other site refuses the opposite from now on.
    if (outcome === 'started') void this.#hearPeer().catch(() => undefined)
    return this.#answer(act, outcome === 'done' ? 'done' : 'running')
  }

  /** With a dead old site nobody else can answer: what is loaded so far does. */
  #loaded(domain: string, partition: number): LoadedCopy | undefined {
    const { takesTraffic, consumes } = this.role
    const loads = takesTraffic && !consumes && this.#host.isStopped ? this.#run?.preload?.loads : undefined
    const load = loads?.find((one) => one.processor.name === domain && one.partition === partition)
    if (load === undefined) return undefined
    const { clock, applicationId } = this.#options
    const stalenessMs = Math.max(0, clock.now() - load.foldState.time)
    return { load, topic: names.journal(applicationId, domain), stalenessMs }
  }

  #isSwitchingTo(site: SiteName): boolean {
    const { target, phase } = this.#record
    return target === site && phase !== 'FAILED'
  }

  #conflict(): ActResult {
    const { target, phase } = this.#record
    const running = target === 'secondary' ? 'failover' : 'failback'
    return { ok: false, reason: 'conflict', message: `a ${running} is in phase ${phase}` }
  }

  status(): SiteStatus {
    const { peer } = this.#options
    const { lagMs } = this.#mirror
    return {
      site: this.site,
      record: this.#record,
      base: this.#base.time,
      mirrorLagMs: lagMs === undefined ? null : Math.round(lagMs),
      peer: { url: peer.url, healthy: this.#watch.isHealthy },
      ...this.#shownProgress(),
    }
  }

  async exchange(record: SiteRecord): Promise<SiteView & { readonly accepted: boolean }> {
    if (isNewer(record, this.#record)) await this.#command({ type: 'RecordReceived', data: record })
    this.#isSettled = true
    await this.#apply()
    return { ...(await this.#view()), accepted: !isNewer(this.#record, record) }
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

  async drill(signal: AbortSignal): Promise<DrillReport> {
    const { peer, clock, peerApplicationId } = this.#options
    const any = AbortSignal.any([signal, this.#stop.signal])
    const preload = (load: string): PreloadOptions => ({ ...this.#preloadOptions(load), baseStoreName })
    await this.#base.pause()
    try {
      return await runDrill({ clock, peer, peerApplicationId, mirror: this.#mirror, preload, signal: any })
    } finally {
      this.#base.resume()
    }
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { clock, settings } = this.#options
    const settleAt = clock.monotonic() + settings.checkIntervalMs * settings.failureThreshold
    while (!signal.aborted) {
      const due = clock.monotonic() + TICK_MS
      try {
        await this.#hearPeer()
        if (clock.monotonic() >= settleAt) this.#isSettled = true
        await this.#decide()
        await this.#noteProgress()
        this.#work()
        this.#followRole()
      } catch (thrown) {
        if (!this.#stop.signal.aborted) this.#wentWrong('site', thrown)
      }
      await sleep(clock, Math.max(0, due - clock.monotonic()), signal)
    }
  }

  /** The two records meet: the newer is taken by both. */
  async #hearPeer(): Promise<void> {
    const view = await this.#exchangeWithPeer().catch(() => undefined)
    if (view === undefined) return
    if (isNewer(view.record, this.#record)) await this.#command({ type: 'RecordReceived', data: view.record })
    this.#isSettled = true
  }

  async #exchangeWithPeer(): Promise<SiteView & { readonly accepted: boolean }> {
    const { peer, clock } = this.#options
    const view = await peer.exchange(this.#record)
    this.#peerView = { ...view, at: clock.monotonic() }
    return view
  }

  async #peerAnswers(): Promise<boolean> {
    return this.#exchangeWithPeer().then(
      ({ record }) => roleOf(otherSite(this.site), record).consumes,
      () => false,
    )
  }

  async #decide(): Promise<void> {
    const { site, settings, clock, health } = this.#options
    if (!settings.automaticSwitch || !this.#isSettled) return
    const view = this.#peerView
    const wanted = automaticSwitch(site, this.#record, settings, {
      nowMs: clock.now(),
      isHealthy: health.isHealthy,
      goodForMs: health.goodForMs,
      peerHasFailed: this.#watch.hasFailed,
      peerConsumes: view?.consumes === true && clock.monotonic() - view.at < settings.checkIntervalMs,
    })
    if (wanted !== undefined) await this.#switchHere(wanted === 'return')
  }

  async #switchHere(oldAlive: boolean): Promise<void> {
    const { automaticWindowMs: windowMs } = this.#options.settings
    const data = { target: this.site, kind: 'automatic' as const, oldAlive, windowMs }
    await this.#command(
      { type: 'SwitchRequested', data },
      { reason: oldAlive ? 'healthy again' : 'the other site failed' },
    )
  }

  /** Begins, or after a start takes up, the work of a switch to this site. */
  #work(): void {
    const { epoch } = this.#record
    if (this.#run !== undefined || !this.#isSwitchingTo(this.site) || !this.#isSettled || this.#stop.signal.aborted)
      return
    const { clock, settings, health, processors } = this.#options
    const run = new SwitchRun({
      clock,
      record: () => this.#record,
      move: (of, move, error, report) => this.#move(of, move, error, report),
      preload: (load) => ({ ...this.#preloadOptions(load), baseStoreName }),
      beforeLoad: () => this.#base.pause(),
      mirror: this.#mirror,
      host: this.#host,
      inputs: processors.flatMap(({ inputs }) => inputs.map(({ topic }) => topic)),
      exchange: () => this.#exchangeWithPeer(),
      peerHasFailed: () => this.#watch.hasFailed,
      isHealthy: () => health.isHealthy,
      preloadTimeoutMs: settings.preloadTimeoutMs,
      onError: (error) => this.#wentWrong(`switch ${epoch}`, error),
    })
    this.#run = run
    void run.done.then(() => {
      this.#run = undefined
      this.#progress = NO_PROGRESS
      this.#base.resume()
    })
  }

  async #copy(signal: AbortSignal): Promise<void> {
    const { clock, onError } = this.#options
    while (!signal.aborted) {
      try {
        await this.#mirror.pull(signal)
        await sleep(clock, MIRROR_PAUSE_MS, signal)
      } catch (thrown) {
        // That the other site does not answer is seen by the watch.
        if (thrown instanceof PulsefoldError) onError('mirror', thrown)
        await sleep(clock, MIRROR_RETRY_MS, signal)
      }
    }
  }

  /** Does what the role says, one change after the other. Rejects when the domains cannot be stopped. */
  #apply(): Promise<void> {
    const applied = this.#applying
      .catch(() => undefined)
      .then(async () => {
        const { consumes } = this.role
        if (this.#stop.signal.aborted) return
        if (consumes && this.#host.isStopped) {
          void this.#host.start().catch((thrown: unknown) => this.#wentWrong('domains', thrown))
        } else if (!consumes && this.#host.isRunning && this.#run === undefined) {
          await this.#host.stop()
        }
      })
    this.#applying = applied
    return applied
  }

  /** As `#apply`, in the background. */
  #followRole(): void {
    this.#apply().catch((thrown: unknown) => this.#wentWrong('domains', thrown))
  }

  /** Tried again at the next tick, but for what leaves it open whether this site still consumes: then the process ends. */
  #wentWrong(where: string, thrown: unknown): void {
    const error = ensureError(thrown)
    if (error instanceof SiteError) this.#options.onFatal(error)
    else this.#options.onError(where, error)
  }

  async #command(
    event: SiteEvent,
    by: { readonly actor?: string; readonly reason?: string } = {},
  ): Promise<SiteAnswer> {
    const { register, newId } = this.#options
    const { actor = '', reason = '' } = by
    const options = {
      commandId: newId(),
      timeoutMs: COMMAND_MS,
      ...(actor !== '' && { actor }),
      ...(reason !== '' && { reason }),
    }
    const result = await register.command<SiteAnswer>(SITE_REGISTER, { key: SITE_KEY }, event, options)
    if (!result.ok) throw new Error(`the site register: ${result.message}`)
    this.#learn(result.answer.record)
    return result.answer
  }

  async #move(epoch: number, move: ReportedMove, error: string, report: string): Promise<boolean> {
    const { outcome } = await this.#command({ type: 'SwitchMoved', data: { epoch, move, error, report } })
    return outcome === 'moved'
  }

  #learn(record: SiteRecord): void {
    const before = this.#record
    if (!isNewer(record, before)) return
    this.#record = record
    this.#options.onRecord(record, before)
    if (record.active !== before.active) this.#watch.reset()
    if (record.epoch !== this.#run?.epoch) void this.#run?.stop()
    this.#followRole()
  }

  async #view(): Promise<SiteView> {
    const { health } = this.#options
    const consumes = !this.#host.isStopped
    const ends = consumes ? [] : await journalEnds(this.#options)
    return { record: this.#record, healthy: health.isHealthy, consumes, ends, progress: this.#progress }
  }

  async #noteProgress(): Promise<void> {
    const preload = this.#run?.preload
    if (preload === undefined) return
    const { entries, ...progress } = await preload.progress()
    this.#progress = { ...progress, events: entries }
  }

  /** Of the load at the target, here or there. */
  #shownProgress(): SiteProgress {
    return this.#record.target === otherSite(this.site) ? (this.#peerView?.progress ?? NO_PROGRESS) : this.#progress
  }

  #answer(act: SiteAct, how: 'done' | 'running'): ActResult {
    const { epoch, phase } = this.#record
    const status = act === 'abort' ? 'aborted' : how === 'done' ? (`${act}ed` as const) : (`${act}ing` as const)
    return { ok: true, status, epoch, phase }
  }

  #preloadOptions(load: string): PreloadOptions {
    const { log, stores, clock, processors, applicationId, partitions, settings, onError } = this.#options
    return {
      log,
      stores,
      clock,
      processors,
      applicationId,
      partitions,
      site: this.site,
      peerJournal: (domain, partition) => this.#mirror.source(domain, partition),
      load,
      rowCacheBytes: settings.rowCacheBytes,
      onError: (error) => onError('pre-load', error),
    }
  }
}
