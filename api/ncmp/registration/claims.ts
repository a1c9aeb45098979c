import { sleep } from '../../../common/clock.js'
import type { AlternateIdsAnswer } from '../../../schemas/trust-level/journal-events.js'
import { noAnswerText } from '../../acts.js'
import { TRUST_LEVEL } from '../../trust-level-queries.js'
import type { Api } from '../../api.js'
import type { Act } from './act.js'
import { groupByPartition, inParts } from './parts.js'

export interface Claim {
  readonly alternateId: string
  readonly cmHandle: string
}

/** What became of claims, each by `claimKey`: those of alternate ids that another has, and those without answer, with why. */
export interface ClaimOutcome {
  readonly refused: ReadonlySet<string>
  readonly open: ReadonlyMap<string, string>
}

/** Names a claim: one handle may claim several alternate ids in a request. No id has the separator. */
export function claimKey({ cmHandle, alternateId }: Claim): string {
  return `${cmHandle}\u0000${alternateId}`
}

/** A holder that has gone, or has not come yet, is waited for so long. */
const UNSETTLED_MS = 2000
const PAUSE_MS = 25

/**
 * Claims alternate ids at their homes. A refusal stands only while its holder's own row has the id: a release may be on
 * its way from a handle removed a moment ago, so such claims are made again for up to 2 s.
 */
export async function claimAlternateIds(api: Api, act: Act, claims: readonly Claim[]): Promise<ClaimOutcome> {
  const refused = new Set<string>()
  const open = new Map<string, string>()
  const until = api.clock.monotonic() + UNSETTLED_MS
  let pending = claims
  for (let attempt = 0; pending.length > 0; attempt++) {
    const round = await claimOnce(api, act, pending, attempt)
    for (const [key, why] of round.open) open.set(key, why)
    const isLast = api.clock.monotonic() >= until
    const held = await Promise.all(round.refused.map(async (claim) => isLast || (await isHeld(api, claim))))
    for (const [i, claim] of round.refused.entries()) if (held[i] === true) refused.add(claimKey(claim))
    pending = round.refused.filter((_, i) => held[i] === false)
    if (pending.length > 0) await sleep(api.clock, PAUSE_MS)
  }
  return { refused, open }
}

interface Round {
  readonly refused: readonly Claim[]
  readonly open: ReadonlyMap<string, string>
}

async function claimOnce(api: Api, act: Act, claims: readonly Claim[], attempt: number): Promise<Round> {
  const { partitions } = api.streams.journal(TRUST_LEVEL)
  const refused: Claim[] = []
  const open = new Map<string, string>()
  const groups = groupByPartition(claims, (claim) => claim.alternateId, partitions)
  await Promise.all(
    [...groups].map(async ([partition, group]) => {
      for (const [i, part] of inParts(group).entries()) {
        const data = { claims: part, claimId: act.id }
        const name = `claims/${partition}/${i}/${attempt}`
        const result = await act.command<AlternateIdsAnswer>({ partition }, { type: 'AlternateIdsClaimed', data }, name)
        if (!result.ok) for (const claim of part) open.set(claimKey(claim), noAnswerText(result, act.id))
        else {
          refused.push(...result.answer.refused)
        }
      }
    }),
  )
  return { refused, open }
}

/**
 * Whether another holder's own row has the alternate id. Not to be known counts as yes. The claimant itself is found where a
 * request is repeated: its first answers come again, until the one that gave the id.
 */
async function isHeld(api: Api, { alternateId, cmHandle: claimant }: Claim): Promise<boolean> {
  const { streams, queries } = api
  const now = { role: 'active' } as const
  const home = await streams.query(TRUST_LEVEL, queries.alternateId, alternateId, { alternateId }, now)
  if (!home.ok) return true
  const cmHandle = home.result.cmHandle
  if (cmHandle === null || cmHandle === claimant) return false
  const row = await streams.query(TRUST_LEVEL, queries.cmHandle, cmHandle, { cmHandle }, now)
  return !row.ok || (row.result.found && row.result.handle.alternateId === alternateId)
}
