import type { AddressState } from '../../schemas/address-health/journal-events.js'
import { tellAddressAlarm } from './alarms.js'
import type { AlarmReason } from './alarms.js'
import type { Context } from './context.js'
import { addressDeadline } from './deadlines.js'
import { addressAt, changeAddress } from './open-platform.js'
import type { OpenPlatform } from './open-platform.js'
import type { AddressRow } from './tables.js'
import { endWindow } from './windows.js'

/**
 * The states of an address, and what moves it. (address health, section 0)
 *
 *      add                      THRESHOLD
 *       |        ACTIVATED    +----------+
 *       |     +-----------+   |          |
 *       v     |           v   |          v
 *     INACTIVE            ACTIVE       FAILED
 *       ^  ^  |           |   ^          |  |
 *       |  |  DEACTIVATED |   +----------+  |
 *       |  +--------------+    REPAIRED,    |
 *       |                      MANUAL_REPAIR|
 *       +-----------------------------------+
 *                    DEACTIVATED
 *
 * Adding sets ACTIVE or INACTIVE; REMOVED ends all three. Counts begin anew with each move to ACTIVE; the alarm stands
 * exactly while an address is FAILED.
 */
export const moves = {
  THRESHOLD: { from: ['ACTIVE'], to: 'FAILED' },
  REPAIRED: { from: ['FAILED'], to: 'ACTIVE' },
  MANUAL_REPAIR: { from: ['FAILED'], to: 'ACTIVE' },
  ACTIVATED: { from: ['INACTIVE'], to: 'ACTIVE' },
  DEACTIVATED: { from: ['ACTIVE', 'FAILED'], to: 'INACTIVE' },
  REMOVED: { from: ['INACTIVE', 'ACTIVE', 'FAILED'], to: null },
} as const satisfies Readonly<
  Record<string, { readonly from: readonly AddressState[]; readonly to: AddressState | null }>
>

export type Move = keyof typeof moves

export function mayMove(state: AddressState, move: Move): boolean {
  return (moves[move].from as readonly AddressState[]).includes(state)
}

/** The one way an address changes its state, with all that follows. Throws for a move that is not in the table. */
export function moveAddress(
  platform: OpenPlatform,
  position: number,
  move: Move,
  context: Context,
  counts: Pick<AddressRow, 'failed' | 'calls'> = { failed: 0, calls: 0 },
): void {
  const before = addressAt(platform, position)
  const { to } = moves[move]
  if (!mayMove(before.state, move)) throw new RangeError(`${move} is no move of an address that is ${before.state}`)
  if (before.state === 'ACTIVE') endWindow(platform, before, context)
  if (before.state === 'FAILED') {
    if (before.attemptDue !== 0) {
      context.disarm(before.attemptDue, addressDeadline('attempt', platform.name, before.id))
    }
    tellAddressAlarm(platform.name, position, before, 'cleared', move as AlarmReason, context)
  }
  context.count('address_moves', move)
  context.because('the address moves', { move, address: before.address, from: before.state, to })
  if (to === null) return
  const { time } = context
  const after = changeAddress(platform, position, {
    state: to,
    since: time,
    windowsFrom: time,
    retryFrom: to === 'FAILED' ? time : 0,
    raised: before.raised + (to === 'FAILED' ? 1 : 0),
    attemptId: '',
    attemptDue: 0,
    successes: 0,
    ...counts,
  })
  if (to === 'FAILED') tellAddressAlarm(platform.name, position, after, 'raised', 'THRESHOLD', context)
}
