import { JSON_SCHEMA_DRAFT } from '../../schemas/json-schema.js'

/** The two sites. Traffic goes to the primary unless the secondary is active. */
export const siteNames = ['primary', 'secondary'] as const
export type SiteName = (typeof siteNames)[number]

export const otherSite = (site: SiteName): SiteName => (site === 'primary' ? 'secondary' : 'primary')

/** Where a switch stands; `moves.ts` draws them. */
export const phases = ['STEADY', 'PRELOAD', 'SWITCH', 'CATCHUP', 'FAILED'] as const
export type Phase = (typeof phases)[number]

export const switchKinds = ['manual', 'automatic'] as const
export type SwitchKind = (typeof switchKinds)[number]

/** What the register says: who is active, and the switch under way or done last. Times in ms since 1970, of the target's clock. */
export interface SiteRecord {
  /** The fencing token: one more with each switch begun or given up. Whoever knows a higher one is right. */
  readonly epoch: number
  /** Moves made in this epoch. */
  readonly step: number
  readonly active: SiteName
  /** Who is becoming active; null: nobody. */
  readonly target: SiteName | null
  readonly phase: Phase
  readonly kind: SwitchKind
  /** The old site works on until the switch; false: the target took over because the old site failed its checks. */
  readonly oldAlive: boolean
  /** When the phase began. */
  readonly since: number
  /** When the switch was asked for: history before is pre-loaded, what comes after is caught up with. */
  readonly switchedAt: number
  /** Least that is folded again from events. */
  readonly windowFrom: number
  /** Times the pre-load was begun in this epoch. */
  readonly attempt: number
  /** Why the last attempt failed; empty: it did not. */
  readonly error: string
  readonly actor: string
  readonly reason: string
  /** What the last switch took, as JSON of a `SwitchReport`; empty: there was none. */
  readonly report: string
}

const count = { type: 'integer', minimum: 0 }
const text = { type: 'string' }
const fields = {
  epoch: count,
  step: count,
  active: { type: 'string', enum: [...siteNames] },
  target: { type: ['string', 'null'], enum: [...siteNames, null] },
  phase: { type: 'string', enum: [...phases] },
  kind: { type: 'string', enum: [...switchKinds] },
  oldAlive: { type: 'boolean' },
  since: count,
  switchedAt: count,
  windowFrom: count,
  attempt: count,
  error: text,
  actor: text,
  reason: text,
  report: text,
} satisfies Record<keyof SiteRecord, object>

/** The record as JSON, as it goes to the register's topic. */
export const siteRecordJson = {
  $schema: JSON_SCHEMA_DRAFT,
  $id: 'urn:pulsefold:site-record:1.0.0',
  title: 'SiteRecord',
  type: 'object',
  properties: fields,
  required: Object.keys(fields),
} as const

/** What a switch took, told when it is done. */
export interface SwitchReport {
  readonly epoch: number
  readonly kind: SwitchKind
  readonly target: SiteName
  /** ms from the request until the target took traffic, and until it consumed. */
  readonly untilTrafficMs: number
  readonly untilSteadyMs: number
  readonly eventsLoaded: number
  /** Age of the mirror when it was loaded last: what the old site took in that time and could not be reached for may be missing. */
  readonly lossWindowMs: number
  /** RFC 3339: the window alone was loaded, so what was told last before is not known; null: all there is was loaded. */
  readonly knownFrom: string | null
}

/** Before any switch: the primary is active. (two sites, decision 15) */
export const initialRecord: SiteRecord = {
  epoch: 1,
  step: 0,
  active: 'primary',
  target: null,
  phase: 'STEADY',
  kind: 'manual',
  oldAlive: true,
  since: 0,
  switchedAt: 0,
  windowFrom: 0,
  attempt: 0,
  error: '',
  actor: '',
  reason: '',
  report: '',
}

/** Who leads an epoch: the target of its switch, or the site that it left active. */
const leaderOf = ({ target, active }: SiteRecord): SiteName => target ?? active

/**
 * Whether `a` goes before `b`: a higher epoch, or further on in the same. Two sites that could not see each other may both have
 * begun an epoch; then the primary's goes first. (two sites, decision 14)
 */
export function isNewer(a: SiteRecord, b: SiteRecord): boolean {
  if (a.epoch !== b.epoch) return a.epoch > b.epoch
  if (leaderOf(a) !== leaderOf(b)) return leaderOf(a) === 'primary'
  return a.step > b.step
}
