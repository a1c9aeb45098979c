import type { Random } from '../../../common/random.js'
import { drawn } from '../random.js'

export interface SisPlanOptions {
  readonly platforms: number
  /** Of each platform. */
  readonly addresses: number
  /** Outages of each platform, each of another address. */
  readonly outages: number
  readonly durationMs: number
  readonly detectIntervalMs: number
  readonly retryIntervalMs: number
  readonly retryAttempts: number
  readonly seed: number
}

/** A time in which an address fails every call. */
export interface AddressOutage {
  readonly platform: number
  readonly position: number
  readonly fromMs: number
  readonly toMs: number
}

/** For what follows on time: ticks, requests, a busy machine. */
export const SLACK_MS = 2000

/** From the begin of an outage until the address is FAILED: the interval that has begun may have too many good calls. */
export function failedWithinMs({ detectIntervalMs }: SisPlanOptions): number {
  return 2 * detectIntervalMs + SLACK_MS
}

/** From its end until the address is ACTIVE: the retry under way may still have failed. */
export function activeWithinMs({ retryIntervalMs, retryAttempts }: SisPlanOptions): number {
  return (retryAttempts + 2) * retryIntervalMs + SLACK_MS
}

/** Shortest run in which an outage can be seen from begin to end. */
export function leastDurationMs(options: SisPlanOptions): number {
  return 2 * failedWithinMs(options) + activeWithinMs(options)
}

/** Outages by the seed: long enough to be found, and over early enough to be repaired before the end. */
export function plannedAddressOutages(options: SisPlanOptions, random: Random): readonly AddressOutage[] {
  const { platforms, addresses, outages, durationMs } = options
  const leastMs = failedWithinMs(options)
  const latestEndMs = durationMs - activeWithinMs(options)
  return Array.from({ length: platforms }, (_, platform) => platform).flatMap((platform) =>
    drawn(random, outages, addresses).map((position) => {
      const fromMs = random() * (latestEndMs - leastMs)
      return { platform, position, fromMs, toMs: fromMs + leastMs + random() * (latestEndMs - leastMs - fromMs) }
    }),
  )
}

export function isDown(outages: readonly AddressOutage[], platform: number, position: number, atMs: number): boolean {
  return outages.some(
    (outage) =>
      outage.platform === platform && outage.position === position && outage.fromMs <= atMs && atMs < outage.toMs,
  )
}
