/** What the fold of keep-alive reads of the settings. (keep-alive, section 5) */
export interface KeepAliveSettings extends KeepAliveTimes {
  /** RANs still shutting down this long after the Red Button are shut down. */
  readonly bigRedButtonTimeoutMs: number
  /** Whether an association stands though the Routing Manager could not be told yet, or is waited for and may fail. */
  readonly onRoutingManagerFailure: 'keep' | 'fail'
  /** Whether an instance that answers and is not known is asked for its init. */
  readonly askForInit: boolean
  /** Pods are deleted only where this is not empty. */
  readonly kubernetesNamespace: string
  readonly globalRicMcc: string
  readonly globalRicMnc: string
}

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
