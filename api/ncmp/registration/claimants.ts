import { partitionOf } from '../../../topology/partitioner.js'
import { TRUST_LEVEL } from '../../trust-level-queries.js'
import type { Api } from '../../api.js'
import type { Act } from './act.js'
import { claimAlternateIds, claimKey } from './claims.js'
import type { Claim, ClaimOutcome } from './claims.js'
import { failure } from './failures.js'
import { noHandles } from './parts.js'
import type { HandlesPart } from './parts.js'
import type { RegistrationRequest } from './request.js'

/** Handles by what their commands depend on besides the request. */
export interface Claimants {
  /** They claim nothing. */
  readonly free: HandlesPart
  /** They got all they claim at first. */
  readonly granted: HandlesPart
  /** They had to claim again: each alone. */
  readonly contested: readonly HandlesPart[]
}

type Refusal = Parameters<typeof failure>

/**
 * Claims the alternate ids of handles. Those that do not get theirs are left out, and noted as failed; where an answer is
 * open, all that claim in its handle's partition, so that what does go together is the same when the act is repeated.
 */
export async function claimants(
  { api, act, request }: { readonly api: Api; readonly act: Act; readonly request: RegistrationRequest },
  handles: HandlesPart,
): Promise<Claimants> {
  const claims: readonly Claim[] = [...handles.created, ...handles.updated].flatMap(({ cmHandle, alternateId }) =>
    alternateId === null || alternateId === '' ? [] : [{ alternateId, cmHandle }],
  )
  if (claims.length === 0) return { free: { ...handles, removed: [] }, granted: noHandles, contested: [] }
  const outcome = await claimAlternateIds(api, act, claims)
  const refusalOf = refusals(claims, outcome, api.streams.journal(TRUST_LEVEL).partitions)
  const kept =
    (list: { push(failed: ReturnType<typeof failure>): unknown }) =>
    ({
      cmHandle,
      alternateId = null,
    }: {
      readonly cmHandle: string
      readonly alternateId?: string | null
    }): boolean => {
      const refusal = refusalOf(cmHandle, alternateId)
      if (refusal !== undefined) list.push(failure(...refusal))
      return refusal === undefined
    }
  const { created, updated, upgraded } = request.failures
  const taken: HandlesPart = {
    removed: [],
    created: handles.created.filter(kept(created)),
    updated: handles.updated.filter(kept(updated)),
    upgraded: handles.upgraded.filter(kept(upgraded)),
  }
  const claiming = new Set(claims.map(({ cmHandle }) => cmHandle))
  const contesting = new Set(claims.filter((claim) => outcome.contested.has(claimKey(claim))).map((c) => c.cmHandle))
  return {
    free: only(taken, (cmHandle) => !claiming.has(cmHandle)),
    granted: only(taken, (cmHandle) => claiming.has(cmHandle) && !contesting.has(cmHandle)),
    contested: [...contesting].map((cmHandle) => only(taken, (other) => other === cmHandle)),
  }
}

/** Why a handle is left out, or what it wants of an alternate id; undefined: it is not. */
function refusals(claims: readonly Claim[], { refused, open, contested }: ClaimOutcome, partitions: number) {
  const claiming = new Set(claims.map(({ cmHandle }) => cmHandle))
  /** Partitions of handles of which one has no first answer yet, and why. */
  const unanswered = new Map<number, string>()
  for (const claim of claims) {
    const why = open.get(claimKey(claim))
    if (why !== undefined && !contested.has(claimKey(claim))) {
      unanswered.set(partitionOf(claim.cmHandle, partitions), why)
    }
  }
  return (cmHandle: string, alternateId: string | null): Refusal | undefined => {
    if (!claiming.has(cmHandle)) return undefined
    const key = claimKey({ cmHandle, alternateId: alternateId ?? '' })
    if (refused.has(key)) return [cmHandle, '109']
    const why = open.get(key) ?? unanswered.get(partitionOf(cmHandle, partitions))
    return why === undefined ? undefined : [cmHandle, '108', why]
  }
}

function only({ created, updated, upgraded }: HandlesPart, isWanted: (cmHandle: string) => boolean): HandlesPart {
  const wanted = ({ cmHandle }: { readonly cmHandle: string }): boolean => isWanted(cmHandle)
  return {
    removed: [],
    created: created.filter(wanted),
    updated: updated.filter(wanted),
    upgraded: upgraded.filter(wanted),
  }
}
