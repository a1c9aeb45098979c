import { sleep } from '../../../common/clock.js'
import type { AlternateIdsAnswer } from '../../../schemas/trust-level/journal-events.js'
import { partitionOf } from '../../../topology/partitioner.js'
import { noAnswerText } from '../../acts.js'
import { TRUST_LEVEL } from '../../trust-level-queries.js'
import type { Api } from '../../api.js'
import type { Act } from './act.js'
import { contentName } from './content-name.js'
import { groupByPartition, inParts } from './parts.js'

export interface Claim {
  readonly alternateId: string
  readonly cmHandle: string
}

/** What became of claims, each by `claimKey`. */
export interface ClaimOutcome {
  /** Another has the alternate id. */
  readonly refused: ReadonlySet<string>
  /** There was no answer, and why. */
  readonly open: ReadonlyMap<string, string>
  /** Refused at first, whatever became of them then: the same when the act is repeated. */
  readonly contested: ReadonlySet<string>
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
 * its way from a handle removed a moment ago, so such claims are made again for up to 2 s. Which ones depends on the moment:
 * each is a command of its own then, so that a repeated act never takes the answer to another claim for its own.
 */
export async function claimAlternateIds(api: Api, act: Act, claims: readonly Claim[]): Promise<ClaimOutcome> {
  const refused = new Set<string>()
  const open = new Map<string, string>()
  const until = api.clock.monotonic() + UNSETTLED_MS
  let contested: ReadonlySet<string> | undefined
  let pending = claims
  for (let attempt = 0; pending.length > 0; attempt++) {
    const round = await claimOnce(act, attempt === 0 ? claimParts(api, claims) : claimsAgain(api, pending, attempt))
    contested ??= new Set(round.refused.map(claimKey))
    for (const [key, why] of round.open) open.set(key, why)
    const isLast = api.clock.monotonic() >= until
    const held = await Promise.all(round.refused.map(async (claim) => isLast || (await isHeld(api, claim))))
    for (const [i, claim] of round.refused.entries()) if (held[i] === true) refused.add(claimKey(claim))
    pending = round.refused.filter((_, i) => held[i] === false)
    if (pending.length > 0) await sleep(api.clock, PAUSE_MS)
  }
  return { refused, open, contested: contested ?? new Set() }
}

/** Claims of one command, whose name tells which. */
interface NamedClaims {
  readonly partition: number
  readonly name: string
  readonly claims: readonly Claim[]
}

/** All claims of a request, some in one command; by partition, to be made in order. */
function claimParts(api: Api, claims: readonly Claim[]): readonly (readonly NamedClaims[])[] {
  const { partitions } = api.streams.journal(TRUST_LEVEL)
  const groups = groupByPartition(claims, (claim) => claim.alternateId, partitions)
  return [...groups].map(([partition, group]) =>
    inParts(group).map((part, i) => ({ partition, name: `claims/${partition}/${i}`, claims: part })),
  )
}

function claimsAgain(api: Api, claims: readonly Claim[], attempt: number): readonly (readonly NamedClaims[])[] {
  const { partitions } = api.streams.journal(TRUST_LEVEL)
  return claims.map((claim) => {
    const name = `claims/again/${attempt}/${contentName(claimKey(claim))}`
    return [{ partition: partitionOf(claim.alternateId, partitions), name, claims: [claim] }]
  })
}

interface Round {
  readonly refused: readonly Claim[]
  readonly open: ReadonlyMap<string, string>
}

async function claimOnce(act: Act, commands: readonly (readonly NamedClaims[])[]): Promise<Round> {
  const refused: Claim[] = []
  const open = new Map<string, string>()
  await Promise.all(
    commands.map(async (inOrder) => {
      for (const { partition, name, claims } of inOrder) {
        const event = { type: 'AlternateIdsClaimed', data: { claims, claimId: act.id } }
        const result = await act.command<AlternateIdsAnswer>({ partition }, event, name)
        if (result.ok) refused.push(...result.answer.refused)
        else for (const claim of claims) open.set(claimKey(claim), noAnswerText(result, act.id))
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
