/** `EffectRequest.kind` of a call that is tried until it succeeds or its data is refused; its result is a `RoutingManagerCalled`. */
export const ROUTING_MANAGER_CALL = 'routing-manager-call'
/** As before, with three tries only: somebody waits for the outcome. */
export const ROUTING_MANAGER_ATTEMPT = 'routing-manager-attempt'
/** Its result is a `PodFound`. */
export const POD_LOOKUP = 'pod-lookup'
/** Its result is a `PodDeleted`. */
export const POD_DELETION = 'pod-deletion'

/** `EffectRequest.payload` of a Routing Manager call. */
export interface RoutingManagerRequest {
  readonly ric: string
  /** The call's key in the RIC. */
  readonly call: string
  readonly method: 'POST' | 'DELETE'
  /** Below the base address. */
  readonly path: string
  readonly body: unknown
}

/** `EffectRequest.payload` of a pod's look-up and deletion. */
export interface PodRequest {
  readonly ric: string
  readonly address: string
  readonly namespace: string
  readonly podName: string
  /** Empty in a look-up. */
  readonly uid: string
}
