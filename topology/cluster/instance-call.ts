import type { JournalEvent } from '../processor.js'
import type { CommandOptions, CommandResult, QueryResult } from '../streams.js'

/** What instances ask one another, as JSON over HTTP: each call is answered by the instance asked, or refused by it. */

/** Raised when a call, an argument of a query or a result changes its meaning: other versions are then refused. */
export const PROTOCOL = 1
export const PROTOCOL_HEADER = 'x-pulsefold-protocol'

/** `lookUps`: several queries in one call, each answered or refused. */
export const callPaths = {
  query: '/internal/queries',
  lookUps: '/internal/look-ups',
  command: '/internal/commands',
} as const
export type CallKind = keyof typeof callPaths

export interface QueryCall {
  readonly domain: string
  readonly query: string
  readonly partition: number
  readonly args: unknown
  /** -1: none. */
  readonly minOffset: number
  readonly maxStalenessMs?: number
  /** Only the owner's live task may answer. */
  readonly activeOnly: boolean
}

export interface CommandCall {
  readonly domain: string
  readonly partition: number
  readonly event: JournalEvent
  readonly options: Omit<CommandOptions, 'signal'>
}

export type QueryAnswer = QueryResult<unknown>

/**
 * What one instance by itself makes of a command. `notOwned`: it was not taken, as its partition has no live task here;
 * `moved`: it is in the journal, and the partition went to another instance before it was answered.
 */
export type LocalCommandResult<Answer = unknown> =
  | CommandResult<Answer>
  | {
      readonly ok: false
      readonly reason: 'notOwned' | 'moved'
      readonly message: string
      readonly retryAfterMs: number
    }
