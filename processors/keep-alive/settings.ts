import type { KeepAliveTimes } from '../../common/keep-alive-times.js'

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
