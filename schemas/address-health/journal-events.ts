import type { EventTimeSource } from '../cloudevents/event-time.js'

/** The events of the address-health journal: all that can change a platform, the state of an address or its alarm. */

/** How a platform's addresses are chosen. (address health, section 1) */
export const SELECTION_MODES = ['INTERCEPTOR_SERVICE', 'ROUND_ROBIN', 'LOAD_SHARE', 'ACTIVE_STANDBY'] as const
export type SelectionMode = (typeof SELECTION_MODES)[number]

/** What became of a call; `ignored` counts neither way. The words of the wire. */
export const CALL_RESULTS = ['success', 'failure', 'ignored'] as const
export type CallResult = (typeof CALL_RESULTS)[number]

export const ADDRESS_STATES = ['INACTIVE', 'ACTIVE', 'FAILED'] as const
export type AddressState = (typeof ADDRESS_STATES)[number]

/** The outcome of one call to one address. */
export interface CallOutcomeReported {
  readonly platform: string
  readonly address: string
  readonly result: CallResult
  /** In the caller's words; empty: none. */
  readonly cause: string
  readonly callId: string
  /** Of the retry that this call was; empty: none. */
  readonly attemptId: string
  /** ms since 1970; null: arrival. It moves no window. */
  readonly eventTime: number | null
  readonly eventTimeSource: EventTimeSource
  /** ce_source and ce_id: with both the event is named once. */
  readonly producer: string
  readonly eventId: string
}

/** The parameters of a platform, for all its addresses. Times in ms, whole numbers. (address health, sections 0 and 3) */
export interface PlatformParameters {
  readonly selectionMode: SelectionMode
  /** 0: no detection. */
  readonly detectInterval: number
  /** Share of failed calls, 0 to 1. */
  readonly detectThreshold: number
  /** 0: no automatic repair. */
  readonly retryInterval: number
  /** Successful retries in a row that repair. */
  readonly retryAttempts: number
  /** Calls in an interval below which it is not judged. */
  readonly minCalls: number
  /** With no active address pick among the failed ones. */
  readonly panicMode: boolean
}

export interface NewAddress {
  readonly address: string
  readonly active: boolean
}

/** Command. */
export interface PlatformCreated extends PlatformParameters {
  readonly platform: string
  readonly addresses: readonly NewAddress[]
}

/** Command; null leaves as it is. */
export type PlatformUpdated = { readonly platform: string } & {
  readonly [Name in keyof PlatformParameters]: PlatformParameters[Name] | null
}

/** Command. */
export interface PlatformDeleted {
  readonly platform: string
}

/** Command. `position` null: the last. */
export interface AddressAdded extends NewAddress {
  readonly platform: string
  readonly position: number | null
}

export const ADDRESS_OPERATIONS = ['activate', 'deactivate', 'repair', 'remove'] as const
export type AddressOperation = (typeof ADDRESS_OPERATIONS)[number]

/** Command: an operator's act on the address at a position. */
export interface AddressOperated {
  readonly platform: string
  readonly position: number
  readonly operation: AddressOperation
  /** The address that the caller means; null: whichever stands there. */
  readonly expected: string | null
}

/** Command: a selection would make this call a retry of a failed address. */
export interface RetryRequested {
  readonly platform: string
  /** The stable id of the address. */
  readonly addressId: number
  readonly callId: string
}

/** Result of telling Alertmanager of an alarm (effect). */
export interface AlarmPosted {
  /** Key of the alarm. */
  readonly alarm: string
  readonly posted: boolean
  /** In words: why not, or what was answered. */
  readonly reason: string
}

interface EventTypes {
  CallOutcomeReported: CallOutcomeReported
  PlatformCreated: PlatformCreated
  PlatformUpdated: PlatformUpdated
  PlatformDeleted: PlatformDeleted
  AddressAdded: AddressAdded
  AddressOperated: AddressOperated
  RetryRequested: RetryRequested
  AlarmPosted: AlarmPosted
}

export type AddressHealthEvent = {
  [T in keyof EventTypes]: { readonly type: T; readonly data: EventTypes[T] }
}[keyof EventTypes]

/** Answer of `RetryRequested`. */
export type RetryAnswer =
  | { readonly granted: true; readonly attemptId: string }
  /** Not failed any more, another retry is under way, or none is due yet. */
  | { readonly granted: false }
