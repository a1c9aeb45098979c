import type { Clock } from '../../common/clock.js'
import { SITE_REGISTER } from '../../processors/site/index.js'
import type { SiteName } from '../../processors/site/index.js'
import type { Directory } from '../../topology/cluster/directory.js'
import { SiteError } from './errors.js'

export interface SoleInstanceOptions {
  readonly clock: Clock
  readonly site: SiteName
  /** Of the register's application. */
  readonly directory: Directory
}

/** One that was killed is forgotten by its group within a session, one that stops has left by then. */
const PATIENCE_MS = 15_000

/** Holds a site to one instance: the one that has the register. Of several each would act by a register of its own. */
export class SoleInstance {
  readonly #options: SoleInstanceOptions
  /** Monotonic time since which another has the register. */
  #since: number | undefined

  constructor(options: SoleInstanceOptions) {
    this.#options = options
  }

  /** Errors: SITE_SECOND_INSTANCE when another instance has had the register for some time. */
  check(): void {
    const { clock, site, directory } = this.#options
    if (directory.holders(SITE_REGISTER, 0).owner?.isSelf !== false) {
      this.#since = undefined
      return
    }
    this.#since ??= clock.monotonic()
    if (clock.monotonic() - this.#since < PATIENCE_MS) return
    throw new SiteError('SITE_SECOND_INSTANCE', `another instance of the ${site} site is running`)
  }
}
