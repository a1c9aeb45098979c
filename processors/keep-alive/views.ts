import type { E2tState, RanState } from './moves.js'
import type { NodebRow, RanRow, RoutingManagerCallRow } from './tables.js'

/** Answers of this domain's queries: JSON. */

export interface OfRicArguments {
  readonly ric: string
}

export interface E2tInstanceView {
  readonly e2tAddress: string
  readonly state: E2tState
  readonly podName: string
  readonly ranNames: readonly string[]
}

/** A RAN with what changes often. */
export interface RanView extends RanRow {
  readonly ranName: string
}

/** All that is known of a RAN. */
export interface NodebView {
  readonly ran: RanView
  readonly nodeb: NodebRow
}

export interface SelectionView {
  readonly e2tAddress: string
  readonly ranCount: number
}

/** What the Routing Manager has not been told yet. An empty address: all instances of the RIC. */
export interface OwedCallView extends Pick<RoutingManagerCallRow, 'purpose' | 'ranNames' | 'since'> {
  readonly ric: string
  readonly e2tAddress: string
}

export interface RicView {
  readonly enableRic: boolean
  /** RANs are still shutting down. */
  readonly isShuttingDown: boolean
}

export type { RanState }
