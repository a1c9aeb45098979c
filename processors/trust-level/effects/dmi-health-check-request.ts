/** `EffectRequest.kind` of a health check; its result is a `DmiPluginChecked`. */
export const DMI_HEALTH_CHECK = 'dmi-health-check'

/** `EffectRequest.payload` of a health check. */
export interface DmiHealthCheckRequest {
  /** Normalised address. */
  readonly plugin: string
  /** The path that answered last, asked first; empty: none has so far. */
  readonly healthPath: string
}
