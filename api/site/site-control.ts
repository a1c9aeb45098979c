import type { Role, SiteName, SiteRecord } from '../../processors/site/index.js'
import type { HistoryPart, HistoryWanted } from '../../topology/preload/mirror.js'

export type SiteAct = 'failover' | 'failback' | 'abort'

/** How a switch stands, to who has asked for it. */
export const actWords = ['failovered', 'failovering', 'failbacked', 'failbacking', 'aborted'] as const
export type ActWord = (typeof actWords)[number]

/** Who asks for an act, and whether the other site has passed it on already. */
export interface ActRequest {
  readonly actor: string
  readonly reason: string
  readonly forwarded: boolean
}

/**
 * What became of an act: how the switch stands; the opposite one is running, or there is nothing to abort; or the site that it
 * is for does not answer.
 */
export type ActResult =
  | {
      readonly ok: true
      readonly status: ActWord
      readonly epoch: number
      readonly phase: string
    }
  | { readonly ok: false; readonly reason: 'conflict' | 'unreachable'; readonly message: string }

/** What a site tells the other. */
export interface SiteView {
  readonly record: SiteRecord
  /** Its own components are well, whatever its role. */
  readonly healthy: boolean
  /** Its tasks run. */
  readonly consumes: boolean
  /** Where its journals end, once nothing more comes into them. */
  readonly ends: readonly { readonly topic: string; readonly partition: number; readonly end: number }[]
  /** Of the pre-load under way there. */
  readonly progress: SiteProgress
  /** The last that this site gave way in; null: none in this life. */
  readonly overlap: Overlap | null
}

export interface SiteProgress {
  readonly loadedTo: number
  readonly eventsPerSecond: number
  readonly etaMs: number | null
  readonly events: number
  /** The window alone is loaded: from here on things are known, ms since 1970; 0: from the beginning. */
  readonly knownFrom: number
}

/** Both sites were active: times of the one that gave way, and the events that it had taken in meanwhile. */
export interface Overlap {
  readonly from: number
  readonly to: number
  readonly events: number
}

/** The newest digest that the active site has sealed of a task, without positions. */
export interface TaskDigest {
  readonly domain: string
  readonly partition: number
  readonly offset: number
  readonly digest: string
}

export interface DrillReport {
  readonly equal: boolean
  /** Tasks whose rows differ from those of the active site, as `domain/partition`. */
  readonly different: readonly string[]
  readonly events: number
  readonly ms: number
  readonly eventsPerSecond: number
  readonly mirrorLagMs: number | null
}

/** What became of a drill: the other site, which it is compared with, does not answer, or a switch has begun. */
export type DrillResult =
  | { readonly ok: true; readonly report: DrillReport }
  | { readonly ok: false; readonly reason: 'conflict' | 'unreachable'; readonly message: string }

export interface SiteStatus extends SiteProgress {
  readonly site: SiteName
  readonly record: SiteRecord
  /** What the journals held before this time need not be folded by a switch, ms since 1970; 0: there is no base. */
  readonly base: number
  readonly mirrorLagMs: number | null
  readonly overlap: Overlap | null
  readonly peer: { readonly url: string; readonly healthy: boolean }
}

/** One of two sites, as its HTTP paths see it. */
export interface SiteControl {
  readonly site: SiteName
  readonly peerUrl: string
  /** What the two sites show each other; empty: nothing, and whoever reaches the paths is believed. */
  readonly token: string
  /** The role as it is acted upon now. */
  readonly role: Role
  readonly record: SiteRecord
  /** Where the instance of this site is reached that leads it, where that is another one. */
  readonly leaderUrl: string | undefined
  /** This instance can ask for what the site has. */
  readonly isServing: boolean
  act(act: SiteAct, request: ActRequest): Promise<ActResult>
  status(): SiteStatus
  /** Takes the other site's record where it is newer; resolves when this site acts by it. */
  exchange(record: SiteRecord): Promise<SiteView & { readonly accepted: boolean }>
  history(wanted: readonly HistoryWanted[], waitMs: number, signal: AbortSignal): Promise<readonly HistoryPart[]>
  digests(): Promise<readonly TaskDigest[]>
  drill(signal: AbortSignal): Promise<DrillResult>
}
