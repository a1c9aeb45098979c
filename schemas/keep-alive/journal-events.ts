/** Events of the keep-alive journal. `ric` is the RIC id, the journal's key; times are ms since 1970. (keep-alive) */

export interface OfRic {
  readonly ric: string
}

/** An E2 termination says that it has started. (E2_TERM_INIT) */
export interface E2tInitReported extends OfRic {
  readonly address: string
  readonly podName: string
  /** ce_source and ce_id, by which a repeat is told; an empty id: none was sent. */
  readonly source: string
  readonly eventId: string
}

/** (E2_TERM_KEEP_ALIVE_RESP) */
export interface KeepAliveAnswered extends OfRic {
  readonly address: string
}

/** (SCTP_CONNECTION_FAILURE) */
export interface RanConnectionLost extends OfRic {
  readonly ranName: string
  readonly source: string
  readonly eventId: string
}

export interface RanFunction {
  readonly ranFunctionId: number
  readonly ranFunctionRevision: number
  readonly ranFunctionDefinition: string
  readonly ranFunctionOid: string
}

/** (E2_SETUP_REQ) */
export interface E2SetupRequested extends OfRic {
  readonly address: string
  readonly ranName: string
  readonly plmnId: string
  readonly nbId: string
  readonly nodeType: NodeType
  readonly ranFunctions: readonly RanFunction[]
  readonly transactionId: string
}

export const NODE_TYPES = ['ENB', 'GNB'] as const
export type NodeType = (typeof NODE_TYPES)[number]

/** A RAN answered a health check. (SERVICE_UPDATE) */
export interface ServiceUpdated extends OfRic {
  readonly ranName: string
}

/** The log has taken the broadcast of a tick; the event's time is when. */
export interface KeepAliveRequestSent extends OfRic {
  readonly tick: number
  /** When the tick was folded: the request was sent no sooner. */
  readonly askedAt: number
  /** Term under which the tick was folded. */
  readonly epoch: number
}

/** All that stood in the input topics at `asOf` is in the journal before this. */
export interface E2tMessagesTakenIn {
  readonly asOf: number
  readonly inputs: readonly { readonly topic: string; readonly partition: number; readonly offset: number }[]
}

/** What became of a call of the Routing Manager (effect). */
export interface RoutingManagerCalled extends OfRic {
  /** The call's key in this RIC, and the effect that was carried out. */
  readonly call: string
  readonly effectId: string
  readonly succeeded: boolean
  /** In words. */
  readonly outcome: string
}

/** What Kubernetes knows of a pod about to be deleted (effect). An empty uid: there is none of that name. */
export interface PodFound extends OfRic {
  readonly address: string
  readonly effectId: string
  readonly uid: string
}

/** The pod with the uid looked up before is gone (effect). */
export interface PodDeleted extends OfRic {
  readonly address: string
  readonly effectId: string
  readonly outcome: string
}

/** Command: PUT nodeb/parameters. */
export interface RicParametersSet extends OfRic {
  readonly enableRic: boolean
}

/** Command: PUT nodeb/shutdown. */
export type RedButtonPressed = OfRic

/** Command: PUT nodeb/health. */
export interface RanHealthAsked extends OfRic {
  /** null: all. */
  readonly ranNames: readonly string[] | null
}

/** Command: POST nodeb/enb. `enb` is JSON. */
export interface EnbAdded extends OfRic {
  readonly ranName: string
  readonly plmnId: string
  readonly nbId: string
  readonly ip: string
  readonly port: number
  readonly enb: string
}

/** Command: PUT nodeb/enb and nodeb/gnb; `configuration` is JSON: the eNB, or the served cells of the gNB. */
export interface NodebUpdated extends OfRic {
  readonly ranName: string
  readonly nodeType: NodeType
  readonly configuration: string
}

/** Command: DELETE nodeb/enb. */
export interface EnbDeleted extends OfRic {
  readonly ranName: string
}

interface EventTypes {
  E2tInitReported: E2tInitReported
  KeepAliveAnswered: KeepAliveAnswered
  RanConnectionLost: RanConnectionLost
  E2SetupRequested: E2SetupRequested
  ServiceUpdated: ServiceUpdated
  KeepAliveRequestSent: KeepAliveRequestSent
  E2tMessagesTakenIn: E2tMessagesTakenIn
  RoutingManagerCalled: RoutingManagerCalled
  PodFound: PodFound
  PodDeleted: PodDeleted
  RicParametersSet: RicParametersSet
  RedButtonPressed: RedButtonPressed
  RanHealthAsked: RanHealthAsked
  EnbAdded: EnbAdded
  NodebUpdated: NodebUpdated
  EnbDeleted: EnbDeleted
}

export type KeepAliveEvent = {
  [T in keyof EventTypes]: { readonly type: T; readonly data: EventTypes[T] }
}[keyof EventTypes]

/** Answers of the commands. */
export interface RicParametersAnswer {
  readonly enableRic: boolean
}
export interface RedButtonAnswer {
  /** Journal time at which RANs still shutting down become shut down; 0: all is done. */
  readonly due: number
}
export interface RanHealthAnswer {
  /** RANs that were asked. */
  readonly asked: number
}
export type NodebAnswer =
  | { readonly done: true }
  /** `internal`: the record is of another kind than the request. */
  | { readonly done: false; readonly why: 'notFound' | 'exists' | 'notAllowed' | 'internal' }
