/** When E2T instances are asked, and when they count as dead. */
export interface KeepAliveTimes {
  /** Between two keep-alive requests. */
  readonly keepAliveDelayMs: number
  /** Without answer for longer an instance is killed. */
  readonly keepAliveResponseTimeoutMs: number
  /** A killed instance is forgotten after this time at the latest. */
  readonly e2tInstanceDeletionTimeoutMs: number
}

/** The requirement's times, and those of upstream's own configuration. */
export const keepAliveProfiles = {
  default: { keepAliveDelayMs: 500, keepAliveResponseTimeoutMs: 1500, e2tInstanceDeletionTimeoutMs: 15_000 },
  upstream: { keepAliveDelayMs: 1500, keepAliveResponseTimeoutMs: 4500, e2tInstanceDeletionTimeoutMs: 15_000 },
} as const satisfies Readonly<Record<string, KeepAliveTimes>>

export type KeepAliveProfile = keyof typeof keepAliveProfiles

/** A profile's times, but for those that are given; 0 is not given. */
export function keepAliveTimes(profile: KeepAliveProfile, given: KeepAliveTimes): KeepAliveTimes {
  const times = keepAliveProfiles[profile]
  return {
    keepAliveDelayMs: given.keepAliveDelayMs || times.keepAliveDelayMs,
    keepAliveResponseTimeoutMs: given.keepAliveResponseTimeoutMs || times.keepAliveResponseTimeoutMs,
    e2tInstanceDeletionTimeoutMs: given.e2tInstanceDeletionTimeoutMs || times.e2tInstanceDeletionTimeoutMs,
  }
}
