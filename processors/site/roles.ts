import { otherSite } from './site-record.js'
import type { SiteName, SiteRecord } from './site-record.js'

/** What a site is to do by the register; what it can do its component checks say. (two sites, section 4) */
export interface Role {
  /** Its health address may say 200. */
  readonly takesTraffic: boolean
  /** Its tasks run: it consumes, produces and acts. */
  readonly consumes: boolean
  /** It takes events into its log. */
  readonly takesEvents: boolean
}

const NOTHING: Role = { takesTraffic: false, consumes: false, takesEvents: false }
const ALL: Role = { takesTraffic: true, consumes: true, takesEvents: true }

export function roleOf(site: SiteName, record: SiteRecord): Role {
  const { phase, active, target, oldAlive } = record
  switch (phase) {
    case 'STEADY':
      return site === active ? ALL : NOTHING
    case 'SWITCH':
    case 'CATCHUP':
      // Events wait in its log until it has caught up.
      return site === active ? { takesTraffic: true, consumes: false, takesEvents: true } : NOTHING
    case 'PRELOAD':
    case 'FAILED':
      if (oldAlive) return site === otherSite(target ?? active) ? ALL : NOTHING
      return site === target ? { ...NOTHING, takesTraffic: true } : NOTHING
  }
}
