import type { SiteProgress } from '../../api/site/site-control.js'
import type { Role, SiteRecord } from '../../processors/site/index.js'
import type { ReportedMove } from '../../processors/site/moves.js'
import type { Application } from '../../topology/application.js'
import { names } from '../../topology/names.js'
import type { PeerJournals } from '../../topology/preload/peer-journals.js'
import type { PreloadOptions } from '../../topology/preload/preload.js'
import { baseStoreName } from './base-keeper.js'
import type { BaseKeeper } from './base-keeper.js'
import type { Consuming } from './consuming.js'
import type { Drills } from './drill.js'
import type { LoadedCopy } from './loading-streams.js'
import type { PeerContact } from './peer-contact.js'
import type { RegisterClient } from './register-client.js'
import { sealLoaded } from './seal-loaded.js'
import { isSwitchingTo } from './site-acts.js'
import type { SiteOptions } from './site-options.js'
import { SwitchRun } from './switch-run.js'

export interface SwitchingOptions {
  readonly site: SiteOptions
  readonly register: Pick<RegisterClient, 'term'>
  readonly record: () => SiteRecord
  readonly role: () => Role
  /** The register's word can be acted upon, and this instance is not about to end. */
  readonly mayBegin: () => boolean
  /** The components of all instances of this site are well. */
  readonly isSiteHealthy: () => boolean
  readonly move: (epoch: number, term: number, move: ReportedMove, error: string, report: string) => Promise<boolean>
  readonly mirror: PeerJournals
  readonly preload: (load: string) => PreloadOptions
  readonly base: Pick<BaseKeeper, 'hold' | 'time'>
  readonly drills: Pick<Drills, 'end'>
  readonly domains: Consuming
  /** The application of the domains, running or waiting. */
  readonly application: () => Application
  readonly contact: PeerContact
  readonly silenceMs: number
  readonly onError: (where: string, thrown: unknown) => void
}

export const NO_PROGRESS: SiteProgress = { loadedTo: 0, eventsPerSecond: 0, etaMs: null, events: 0, knownFrom: 0 }

/** The work of switches to this site, done by the instance that leads it: one run at a time. */
export class Switching {
  readonly #options: SwitchingOptions
  #run: SwitchRun | undefined
  #progress: SiteProgress = NO_PROGRESS

  constructor(options: SwitchingOptions) {
    this.#options = options
  }

  get isUnderWay(): boolean {
    return this.#run !== undefined
  }
  /** As of the last look. */
  get progress(): SiteProgress {
    return this.#progress
  }

  async look(): Promise<void> {
    this.#progress = (await this.#run?.progress()) ?? this.#progress
  }

  /** Begins the work of a switch to this site, or after a start takes it up. */
  begin(): void {
    const { site, register, record, mayBegin, move, mirror, contact, silenceMs, base, onError } = this.#options
    const { epoch } = record()
    const { term } = register
    const isToRun = term !== undefined && isSwitchingTo(site.site, record()) && mayBegin()
    if (this.#run !== undefined || !isToRun) return
    let release = (): void => undefined
    const run = new SwitchRun({
      ...{ clock: site.clock, term, record, mirror, contact, silenceMs },
      move: (...moved) => move(epoch, term, ...moved),
      preload: (load) => ({ ...this.#options.preload(load), baseStoreName }),
      beforeLoad: async () => {
        await this.#options.drills.end()
        release()
        release = await base.hold()
      },
      domains: this.#options.domains,
      isSafe: (loads) => sealLoaded(site, this.#options.application().tasks, loads),
      inputs: site.processors.flatMap(({ inputs }) => inputs.map(({ topic }) => topic)),
      hasBase: () => base.time > 0,
      // With a dead old site an instance that works is better than none.
      isHealthy: () => (record().oldAlive ? this.#options.isSiteHealthy() : site.health.isHealthy),
      checkIntervalMs: site.settings.checkIntervalMs,
      preloadTimeoutMs: site.settings.preloadTimeoutMs,
      onError: (error) => onError(`switch ${epoch}`, error),
    })
    this.#run = run
    void run.done.then(() => {
      this.#run = undefined
      this.#progress = NO_PROGRESS
      release()
    })
  }

  /** Ends the run that is of another switch by now, or not this instance's any more; another is begun where there is one to do. */
  endOutdated(): void {
    const run = this.#run
    const { record, register } = this.#options
    if (run !== undefined && (run.epoch !== record().epoch || run.term !== register.term)) void run.stop()
  }

  async stop(): Promise<void> {
    await this.#run?.stop()
  }

  /** With a dead old site nobody else can answer: what is loaded so far does. */
  loaded(domain: string, partition: number): LoadedCopy | undefined {
    const { role, domains, site } = this.#options
    const { takesTraffic, consumes } = role()
    const loads = takesTraffic && !consumes && !domains.isActive ? this.#run?.preload?.loads : undefined
    const load = loads?.find((one) => one.processor.name === domain && one.partition === partition)
    if (load === undefined) return undefined
    const stalenessMs = Math.max(0, site.clock.now() - load.foldState.time)
    return { load, topic: names.journal(site.applicationId, domain), stalenessMs }
  }
}
