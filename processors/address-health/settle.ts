import type { Context } from './context.js'
import { addressDeadline } from './deadlines.js'
import { moveAddress } from './moves.js'
import { addressAt, changeAddress } from './open-platform.js'
import type { OpenPlatform } from './open-platform.js'
import { closeDueWindow, windowsOf } from './windows.js'
import type { AddressWindows, Counts } from './windows.js'
import type { PlatformRow } from './tables.js'

/**
 * Does what has come due by the journal's time: closes and judges a window at its end, ends a retry that has no outcome. Called
 * by ticks, and first by all else that concerns the address: whichever stands first in the journal.
 */
export function settleAddress(
  platform: OpenPlatform,
  position: number,
  context: Context,
  windows?: AddressWindows,
): void {
  const address = addressAt(platform, position)
  if (address.state === 'ACTIVE') {
    const found = windows ?? windowsOf(platform.name, address, context)
    const counts = closeDueWindow(platform, address, found, context)
    if (counts === undefined) return
    const { detectThreshold, minCalls } = platform.row
    const hasFailed = isFailed(counts, platform.row)
    const verdict = hasFailed ? 'the interval reaches the threshold' : 'the interval stays below the threshold'
    context.because(verdict, { ...counts, detectThreshold, minCalls })
    if (hasFailed) moveAddress(platform, position, 'THRESHOLD', context, counts)
  } else if (address.attemptDue !== 0 && address.attemptDue <= context.time) {
    context.disarm(address.attemptDue, addressDeadline('attempt', platform.name, address.id))
    context.count('retries', 'expired')
    context.because('the retry had no outcome in time: it counts as failed', { attemptId: address.attemptId })
    changeAddress(platform, position, { attemptId: '', attemptDue: 0, successes: 0 })
  }
}

export function settlePlatform(platform: OpenPlatform, context: Context): void {
  for (const position of platform.row.addresses.keys()) settleAddress(platform, position, context)
}

/**
 * The vendor's texts differ on the bound: the operations interface of 3.2 says "greater than or equal", the Ant task of 2.6
 * "exceeds". Here an interval that reaches the threshold fails the address. Without a failed call nothing ever does, so 0
 * means any failure. (address health, section 3, rows 1 to 5)
 */
function isFailed({ calls, failed }: Counts, { detectThreshold, minCalls }: PlatformRow): boolean {
  return failed >= 1 && calls >= minCalls && failed / calls >= detectThreshold
}
