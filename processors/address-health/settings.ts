/** What the fold of address health reads of the settings. (address health, section 3) */
export interface AddressHealthSettings {
  /** Calls of one window of one address that are remembered, to know a repeat. */
  readonly outcomeIdLimit: number
  /** An event time further ahead of its arrival is counted as such. */
  readonly maxFutureSkewMs: number
  /** Output topic of the alarms. */
  readonly alarmTopic: string
  /** Whether Alertmanager is told of alarms. */
  readonly alertmanager: boolean
  /** How often it is told again of an alarm that stands. */
  readonly alertmanagerRepeatMs: number
}
