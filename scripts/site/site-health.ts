import { otherSite } from '../../processors/site/index.js'
import type { Role, SiteInstance, SiteName, SiteRecord } from '../../processors/site/index.js'
import type { Application } from '../../topology/application.js'
import type { Readiness } from '../../topology/streams.js'
import type { ComponentHealth } from './component-health.js'

export interface SiteHealthOptions {
  readonly site: SiteName
  readonly health: ComponentHealth
  readonly register: Application
  /** The application of the domains, running or waiting. */
  readonly domains: () => Application
  readonly role: () => Role
  /** It took traffic until a moment ago, and the other site has been asked to. */
  readonly hasJustGivenWay: () => boolean
  readonly record: () => SiteRecord
  /** The register's word can be acted upon. */
  readonly isSettled: () => boolean
  /** Others have the tasks of this site already, and this instance joins them. */
  readonly isJoining: () => boolean
  /** Instances of this site, but for this one, that are not well. */
  readonly others: () => readonly SiteInstance[]
}

const NOTHING_TO_DO: Readiness = { ready: true, reasons: [], restoring: [] }
const MAX_TROUBLES_LENGTH = 500

/** What an instance says of itself and of its site. (two sites, decisions 34, 38 and 39) */
export class SiteHealth {
  readonly #options: SiteHealthOptions
  /** Its domains have been ready since they were started. */
  #wasReady: Application | undefined

  constructor(options: SiteHealthOptions) {
    this.#options = options
  }

  /** What is not as it should be, for the component checks. */
  troubles(): readonly string[] {
    return [...this.#options.register.readiness().reasons, ...this.#domainTroubles()]
  }

  /** What the others are told; empty: nothing is wrong, or it never was right. */
  told(): string {
    const { health } = this.#options
    return health.hasFailed ? health.reasons.join('; ').slice(0, MAX_TROUBLES_LENGTH) : ''
  }

  /** Why its health address does not say 200: its role, and the component checks of all instances of the site. */
  reasons(): readonly string[] {
    return [...this.#trafficTroubles(), ...this.componentReasons()]
  }

  /** What is wrong with the components of all instances of the site. */
  componentReasons(): readonly string[] {
    const { health, others } = this.#options
    return [
      ...health.reasons,
      ...others()
        .filter(({ troubles }) => troubles !== '')
        .map(({ instance, troubles }) => `${instance}: ${troubles}`),
    ]
  }

  readiness(): Readiness {
    const { register, domains, role, isSettled } = this.#options
    const { ready, reasons } = register.readiness()
    const ofDomains = role().consumes ? domains().readiness() : NOTHING_TO_DO
    const all = isSettled() || ready ? [...reasons, ...ofDomains.reasons] : ['the register is not up yet']
    return { ready: all.length === 0, reasons: all, restoring: ofDomains.restoring }
  }

  #domainTroubles(): readonly string[] {
    const { role, domains, isJoining } = this.#options
    if (!role().consumes) return []
    const application = domains()
    const { reasons } = application.readiness()
    if (reasons.length === 0) this.#wasReady = application
    // One that joins those that have the tasks makes nothing worse.
    return isJoining() && this.#wasReady !== application ? [] : reasons
  }

  #trafficTroubles(): readonly string[] {
    const { site, role, record, isSettled, hasJustGivenWay } = this.#options
    // Not before the other site can say 200 at each of its instances: one at least always does. (decision 12)
    if (role().takesTraffic || hasJustGivenWay()) return []
    if (!isSettled()) return [`the ${otherSite(site)} site was not heard yet`]
    return [`the ${record().active} site is active`]
  }
}
