import type {
  AlternateIdQuestioned,
  AlternateIdSettled,
  AlternateIdsAnswer,
  AlternateIdsClaimed,
} from '../../schemas/trust-level/journal-events.js'
import type { Reads } from '../../topology/processor.js'
import { sendEvent } from './context.js'
import type { Context } from './context.js'
import { deadlineId, rearm } from './deadlines.js'
import type { DeadlineSubject } from './deadlines.js'
import { alternateIds, cmHandles, deniedClaims } from './tables.js'
import type { AlternateIdRow } from './tables.js'

/**
 * An alternate id at its own partition. The handle's row decides who has it; here it is kept from being given twice.
 *
 *     free --claimed--> claimed --settled, held--> confirmed --handle removed--> free
 *                          |---settled, not held--> free
 *                          +---open for 30 s: the handle is asked, and settles it
 */
const CLAIM_LIFE_MS = 30_000
/** What was appended under a denied claim before this has long been folded. */
const DENIED_LIFE_MS = 24 * 3_600_000

export function readsOfClaims({ claims }: AlternateIdsClaimed): Reads {
  return { rows: claims.map(({ alternateId }) => ({ table: alternateIds, key: alternateId })) }
}

export function readsOfSettlement({ alternateId }: AlternateIdSettled): Reads {
  return { rows: [{ table: alternateIds, key: alternateId }] }
}

export function readsOfQuestion({ cmHandle, claimId }: AlternateIdQuestioned): Reads {
  return {
    rows: [
      { table: cmHandles, key: cmHandle },
      { table: deniedClaims, key: claimId },
    ],
  }
}

/** Gives free alternate ids to those who claim them, in order; a handle may claim again what it has. */
export function alternateIdsClaimed({ claims, claimId }: AlternateIdsClaimed, context: Context): void {
  const refused = claims.filter(({ alternateId, cmHandle }) => {
    const row = context.get(alternateIds, alternateId)
    if (row !== undefined && row.cmHandle !== cmHandle) return true
    const due = context.time + CLAIM_LIFE_MS
    putRow(alternateId, row, { cmHandle, confirmed: row?.confirmed ?? false, claimId, due }, context)
    return false
  })
  context.answer({ refused } satisfies AlternateIdsAnswer)
}

/** What the handle's fold says of a claim; with an empty claim id the handle was removed. */
export function alternateIdSettled(settled: AlternateIdSettled, context: Context): void {
  const { alternateId, cmHandle, claimId, held } = settled
  const row = context.get(alternateIds, alternateId)
  if (row === undefined) {
    if (held) putRow(alternateId, row, { cmHandle, confirmed: true, claimId: '', due: 0 }, context)
    return
  }
  if (row.cmHandle !== cmHandle) return
  if (claimId === '') {
    // A newer claim of the same handle stays open.
    putRow(alternateId, row, row.claimId === '' ? undefined : { ...row, confirmed: false }, context)
    return
  }
  const isOpen = row.claimId === claimId
  const closed = isOpen ? { ...row, claimId: '', due: 0 } : row
  if (held) putRow(alternateId, row, { ...closed, confirmed: true }, context)
  else if (isOpen) putRow(alternateId, row, row.confirmed ? closed : undefined, context)
}

/** A claim has stayed open: its handle is asked. */
export function claimDue({ subject: alternateId, due }: DeadlineSubject, context: Context): void {
  const row = context.get(alternateIds, alternateId)
  if (row?.due !== due) return
  const { cmHandle, claimId } = row
  context.put(alternateIds, alternateId, { ...row, due: 0 })
  sendEvent(context, cmHandle, { type: 'AlternateIdQuestioned', data: { alternateId, cmHandle, claimId } })
}

/** Asked of the handle: has it the alternate id? If not, a registration that still comes under the claim is too late. */
export function alternateIdQuestioned(question: AlternateIdQuestioned, context: Context): void {
  const { alternateId, cmHandle, claimId } = question
  const held = context.get(cmHandles, cmHandle)?.alternateId === alternateId
  if (!held && context.get(deniedClaims, claimId) === undefined) {
    context.count('denied_claims')
    context.put(deniedClaims, claimId, { deniedAt: context.time })
    context.arm(context.time + DENIED_LIFE_MS, deadlineId('denied', claimId))
  }
  sendEvent(context, alternateId, { type: 'AlternateIdSettled', data: { alternateId, cmHandle, claimId, held } })
}

export function deniedDue({ subject: claimId }: DeadlineSubject, context: Context): void {
  context.delete(deniedClaims, claimId)
}

function putRow(
  alternateId: string,
  old: AlternateIdRow | undefined,
  row: AlternateIdRow | undefined,
  context: Context,
): void {
  rearm(context, deadlineId('claim', alternateId), old?.due ?? 0, row?.due ?? 0)
  if (row === undefined) context.delete(alternateIds, alternateId)
  else context.put(alternateIds, alternateId, row)
}
