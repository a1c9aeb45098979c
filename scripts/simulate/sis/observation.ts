import type { AddressOutageReport } from './report.js'
import { activeWithinMs, failedWithinMs } from './plan.js'
import type { AddressOutage, SisPlanOptions } from './plan.js'

/** A state in which an address was seen. Times on the run's clock, ms since its begin. */
export interface SeenState {
  readonly platform: number
  readonly position: number
  readonly state: string
  readonly sinceMs: number
}

export interface PlacedCall {
  readonly platform: number
  readonly position: number
  readonly isRetry: boolean
  /** When the selection was asked for. */
  readonly askedMs: number
}

/** A call may be under way while its address fails, and the verdict to who answers: longer than that is wrong. */
const UNDER_WAY_MS = 1000

/** What was seen against the script: each outage must fail its address once, and repair must follow it. */
export function compareMoves(
  options: SisPlanOptions,
  outages: readonly AddressOutage[],
  seen: readonly SeenState[],
  name: (platform: number, position: number) => string,
): { readonly outages: readonly AddressOutageReport[]; readonly unexpected: readonly string[] } {
  const explained = new Set<SeenState>()
  const reports = outages.map((outage): AddressOutageReport => {
    const first = (state: string, afterMs: number, withinMs: number): number | null => {
      const found = seen.find(
        (move) =>
          isSame(move, outage) && move.state === state && move.sinceMs >= afterMs && move.sinceMs <= afterMs + withinMs,
      )
      if (found !== undefined) explained.add(found)
      return found === undefined ? null : found.sinceMs - afterMs
    }
    return {
      address: name(outage.platform, outage.position),
      lastedMs: outage.toMs - outage.fromMs,
      failedAfterMs: first('failed', outage.fromMs, failedWithinMs(options)),
      activeAfterMs: first('active', outage.toMs, activeWithinMs(options)),
    }
  })
  const unexpected = seen.filter((move) => move.sinceMs > 0 && !explained.has(move))
  return {
    outages: reports,
    unexpected: unexpected.map(
      ({ platform, position, state, sinceMs }) =>
        `${name(platform, position)} ${state} at ${(sinceMs / 1000).toFixed(1)} s`,
    ),
  }
}

/** Calls that were no retries and went to an address that had been FAILED for a while. */
export function callsToFailed(calls: readonly PlacedCall[], seen: readonly SeenState[]): readonly PlacedCall[] {
  return calls.filter((call) => {
    if (call.isRetry) return false
    const before = seen.filter((move) => isSame(move, call) && move.sinceMs <= call.askedMs)
    const last = before.reduce<SeenState | undefined>(
      (a, b) => (a !== undefined && a.sinceMs > b.sinceMs ? a : b),
      undefined,
    )
    return last?.state === 'failed' && last.sinceMs < call.askedMs - UNDER_WAY_MS
  })
}

interface OfAddress {
  readonly platform: number
  readonly position: number
}

const isSame = (a: OfAddress, b: OfAddress): boolean => a.platform === b.platform && a.position === b.position
