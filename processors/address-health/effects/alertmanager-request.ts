/** `EffectRequest.kind` of telling Alertmanager; its result is an `AlarmPosted`. */
export const ALERTMANAGER_POST = 'alertmanager-post'

/** `EffectRequest.payload`: the wanted state of one alarm. Times in ms since 1970. */
export interface AlertmanagerRequest {
  readonly alarm: string
  readonly platform: string
  /** Empty: the platform's own alarm. */
  readonly address: string
  readonly startsAt: number
  /** When it ends, or is taken as ended unless it is told again. */
  readonly endsAt: number
  readonly text: string
}
