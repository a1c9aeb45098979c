/** What the fold of trust levels reads of the settings. (trust levels, section 0) */
export interface TrustLevelSettings {
  /** What becomes of own levels told before their plugin went from NONE to COMPLETE: no longer counted, or kept. */
  readonly onDmiRestart: 'complete' | 'keep'
  /** Whether changes of effective levels are told. */
  readonly trustLevelNotices: boolean
  /** Where they are told. */
  readonly trustLevelNoticeTopic: string
  /** How long a report on an unregistered handle waits for its registration: ms of journal time. */
  readonly pendingLevelMs: number
  /** An event time further ahead of its arrival is taken as arrival. */
  readonly maxFutureSkewMs: number
  readonly dmiHealthIntervalMs: number
  readonly dmiHealthDeadlineMs: number
}
