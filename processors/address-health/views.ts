import type { AddressState, PlatformParameters } from '../../schemas/address-health/journal-events.js'
import type { AddressRow, PlatformRow } from './tables.js'
import { nextRetryAt } from './retries.js'
import { currentCounts } from './windows.js'
import type { Counts, Rows } from './windows.js'

/** An address as it is shown. Times in ms since 1970. */
export interface AddressView {
  readonly position: number
  readonly address: string
  readonly state: AddressState
  readonly since: number
  /** Of the interval that runs. */
  readonly window: Counts
  /** `nextAt`: when the next retry may start; null: none will. */
  readonly retry: { readonly successes: number; readonly nextAt: number | null }
}

export interface PlatformView extends PlatformParameters {
  readonly name: string
  readonly addresses: readonly AddressView[]
}

/** Where an address stands in its platform. */
export interface AddressPlace {
  readonly address: string
  readonly position: number
}

/** What a selection says of a call. */
export type Selection =
  | { readonly found: false }
  | {
      readonly found: true
      /** All ACTIVE ones, for INTERCEPTOR_SERVICE; null: the mode chooses. */
      readonly all: readonly AddressPlace[] | null
      /** null: none is there to choose. */
      readonly choice: AddressPlace | null
      readonly fallback: AddressPlace | null
      /** A failed address whose retry is due, to be asked for by `RetryRequested`. */
      readonly retry: (AddressPlace & { readonly addressId: number }) | null
      /** ms until the next retry is due; null: none will be. */
      readonly nextRetryMs: number | null
    }

/** A platform as it stands at a moment of journal time. */
export function platformView(name: string, row: PlatformRow, time: number, rows: Rows): PlatformView {
  const { selectionMode, detectInterval, detectThreshold, retryInterval, retryAttempts, minCalls, panicMode } = row
  return {
    name,
    selectionMode,
    detectInterval,
    detectThreshold,
    retryInterval,
    retryAttempts,
    minCalls,
    panicMode,
    addresses: row.addresses.map((address, position) => addressView(name, row, address, position, time, rows)),
  }
}

function addressView(
  name: string,
  row: PlatformRow,
  address: AddressRow,
  position: number,
  time: number,
  rows: Rows,
): AddressView {
  return {
    position,
    address: address.address,
    state: address.state,
    since: address.since,
    window: currentCounts(name, address, time, rows),
    retry: { successes: address.successes, nextAt: nextRetryAt(row, address) },
  }
}
