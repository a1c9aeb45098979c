import type { CallOutcomeReported } from '../../schemas/address-health/journal-events.js'
import type { Context } from './context.js'
import type { AddressHealthErrorCode } from './errors.js'
import { addressAt, closePlatform, openPlatform } from './open-platform.js'
import type { OpenPlatform } from './open-platform.js'
import { retryDone } from './retries.js'
import { settleAddress } from './settle.js'
import { countCall, startOfWindow, windowsOf } from './windows.js'
import type { AddressWindows } from './windows.js'

/** 2000-01-01T00:00:00Z: nothing before it is a time of a call. */
const YEAR_2000_MS = 946_684_800_000

/** The outcome of a call: counts in the window that is open by the journal's time, or for the retry that the call was. */
export function callOutcomeReported(outcome: CallOutcomeReported, context: Context): void {
  const platform = openPlatform(outcome.platform, context)
  if (platform === undefined) {
    giveUp('UNKNOWN_PLATFORM', 'there is no such platform', context)
    return
  }
  const position = platform.row.addresses.findIndex(({ address }) => address === outcome.address)
  if (position === -1) {
    giveUp('UNKNOWN_ADDRESS', 'the platform has no such address', context)
    return
  }
  context.count('outcomes', outcome.result)
  // Read once: what settling does to them is only to close one that is over.
  const windows = windowsOf(platform.name, addressAt(platform, position), context)
  settleAddress(platform, position, context, windows)
  const uncounted = take(platform, position, windows, outcome, context)
  if (uncounted !== undefined) {
    context.count('uncounted_outcomes', uncounted)
    context.because('the outcome counts for nothing', { reason: uncounted })
  }
  closePlatform(platform, context)
}

/** Why it counts for nothing; undefined: it counts. */
function take(
  platform: OpenPlatform,
  position: number,
  windows: AddressWindows,
  outcome: CallOutcomeReported,
  context: Context,
): string | undefined {
  const address = addressAt(platform, position)
  const { attemptId, result } = outcome
  if (address.state === 'INACTIVE') return 'inactive'
  if (address.state === 'FAILED') {
    if (attemptId === '') return 'failed'
    if (attemptId !== address.attemptId) return 'attempt'
    retryDone(platform, position, outcome, context)
    return undefined
  }
  if (attemptId !== '') return 'attempt'
  if (result === 'ignored') return 'ignored'
  if (platform.row.detectInterval === 0) return 'undetected'
  if (!countCall(platform, address, windows, outcome, context)) return 'repeated'
  context.because('the outcome counts in the interval that runs', { result })
  lookAtTime(outcome, startOfWindow(address.windowsFrom, platform.row.detectInterval, context.time), context)
  return undefined
}

/** An outcome's own time moves nothing; it is only told when it is odd. (address health, section 3, row 7) */
function lookAtTime({ eventTime, eventTimeSource }: CallOutcomeReported, start: number, context: Context): void {
  if (eventTime === null || eventTime < YEAR_2000_MS) {
    if (eventTimeSource !== 'ABSENT') context.count('replaced_outcome_times', 'malformed')
  } else if (eventTime > context.time + context.settings.maxFutureSkewMs) {
    context.count('replaced_outcome_times', 'future')
  } else if (eventTime < start) {
    context.count('late_outcomes')
  }
}

function giveUp(code: AddressHealthErrorCode, message: string, context: Context): void {
  context.count('unknown_outcomes')
  context.because(message)
  context.deadLetter({ code, message })
}
