import { initialRecord, roleOf } from '../../processors/site/index.js'
import type { SiteName, SiteRecord } from '../../processors/site/index.js'
import type { SiteSettings } from './site-options.js'

/** What a site sees when it considers a switch to itself. */
export interface Outlook {
  readonly nowMs: number
  /** Its own components. */
  readonly isHealthy: boolean
  readonly goodForMs: number
  /** The other site has failed its checks. */
  readonly peerHasFailed: boolean
  /** It has been well once, or has left records: one that is only slow in its very first start has not failed. */
  readonly peerHasWorked: boolean
  /** The other site was heard of late, and works. */
  readonly peerConsumes: boolean
}

/**
 * Whether a site makes itself active unasked: it takes over from one that has failed, also in the middle of a switch by request,
 * or returns from what was taken over automatically. (two sites, decisions 13, 15, 16, 17 and 33)
 */
export function automaticSwitch(
  site: SiteName,
  record: SiteRecord,
  { failbackHoldOffMs }: Pick<SiteSettings, 'failbackHoldOffMs'>,
  { nowMs, isHealthy, goodForMs, peerHasFailed, peerHasWorked, peerConsumes }: Outlook,
): 'takeOver' | 'return' | undefined {
  const { epoch, phase, active, target, kind, oldAlive, since } = record
  if (!isHealthy) return undefined
  if (epoch === initialRecord.epoch && !peerHasWorked) return undefined
  if (peerHasFailed) {
    const mayTakeOver = phase === 'STEADY' && active !== site
    // Nobody works: the target of a switch has failed in the middle of it.
    const mayReplace = phase !== 'STEADY' && target !== site && !roleOf(site, record).consumes
    const oldSiteDied = phase === 'PRELOAD' && target === site && oldAlive
    // The old site has died since: with nobody left the load goes on until it is done.
    const mayTryAgain = phase === 'FAILED' && target === site
    return mayTakeOver || mayReplace || oldSiteDied || mayTryAgain ? 'takeOver' : undefined
  }
  if (site !== 'primary' || active !== 'secondary' || phase !== 'STEADY' || kind !== 'automatic') return undefined
  const hasHeldOff = goodForMs >= failbackHoldOffMs && nowMs - since >= failbackHoldOffMs
  return hasHeldOff && peerConsumes ? 'return' : undefined
}
