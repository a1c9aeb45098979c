import type { CallOutcomeReported, RetryAnswer, RetryRequested } from '../../schemas/address-health/journal-events.js'
import type { Context } from './context.js'
import { addressDeadline } from './deadlines.js'
import { moveAddress } from './moves.js'
import { addressAt, changeAddress, closePlatform, openPlatform } from './open-platform.js'
import type { OpenPlatform } from './open-platform.js'
import { settleAddress } from './settle.js'
import type { AddressRow, PlatformRow } from './tables.js'

/**
 * When the next retry of a FAILED address may start, journal time; null: never. One that is under way must have an outcome
 * before, or come to its end. (address health, section 3, rows 13 to 15)
 */
export function nextRetryAt({ retryInterval }: PlatformRow, address: AddressRow): number | null {
  if (address.state !== 'FAILED' || retryInterval === 0) return null
  return Math.max(address.retryFrom + retryInterval, address.attemptDue)
}

/** Command: grants the retry when one is due; so no two are ever under way. Answers with its id. */
export function retryRequested({ platform: name, addressId }: RetryRequested, context: Context): void {
  const answer = grant(name, addressId, context)
  context.count('retries', answer.granted ? 'granted' : 'denied')
  context.answer(answer)
}

function grant(name: string, addressId: number, context: Context): RetryAnswer {
  const platform = openPlatform(name, context)
  const position = platform?.row.addresses.findIndex(({ id }) => id === addressId) ?? -1
  if (platform === undefined || position === -1) return { granted: false }
  settleAddress(platform, position, context)
  const { time } = context
  const dueAt = nextRetryAt(platform.row, addressAt(platform, position))
  const isDue = dueAt !== null && dueAt <= time
  context.because(isDue ? 'a retry is due and none is under way' : 'no retry is due', { dueAt, time })
  // One a millisecond at most, as a retry lasts at least one: so no two of an address have one id.
  const attemptId = `${addressId}-${time.toString(36)}`
  if (isDue) {
    const attemptDue = time + platform.row.retryInterval
    changeAddress(platform, position, { retryFrom: time, attemptId, attemptDue })
    context.arm(attemptDue, addressDeadline('attempt', name, addressId))
  }
  closePlatform(platform, context)
  return isDue ? { granted: true, attemptId } : { granted: false }
}

/** The outcome of the retry under way. Enough successes in a row repair; an ignored one only makes room for the next. */
export function retryDone(
  platform: OpenPlatform,
  position: number,
  { result }: CallOutcomeReported,
  context: Context,
): void {
  const address = addressAt(platform, position)
  context.count('retries', result)
  const successes = result === 'success' ? address.successes + 1 : result === 'failure' ? 0 : address.successes
  const { retryAttempts } = platform.row
  context.because('the outcome of the retry under way', { result, successes, retryAttempts })
  if (successes >= retryAttempts && result === 'success') {
    moveAddress(platform, position, 'REPAIRED', context)
    return
  }
  context.disarm(address.attemptDue, addressDeadline('attempt', platform.name, address.id))
  changeAddress(platform, position, { attemptId: '', attemptDue: 0, successes })
}
