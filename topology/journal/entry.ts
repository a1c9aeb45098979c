import type { JournalEvent, Original, SourcePosition } from '../processor.js'

/** A domain event with all that a fold may know of where it came from. */
export interface EventEntry {
  readonly kind: 'event'
  readonly source: SourcePosition
  readonly event: JournalEvent
  /** Names a command whose answer is kept. */
  readonly commandId?: string
  /** The event is the result of this effect. */
  readonly effectId?: string
  readonly actor?: string
  readonly reason?: string
  /** The bytes as they came, where no input topic keeps them. */
  readonly original?: Original
}

/** An armed deadline has passed; written by the owner of a live task, acted upon only when read back. */
export interface TimerEntry {
  readonly kind: 'timer'
  readonly source: SourcePosition
  readonly due: number
  readonly id: string
  readonly epoch: number
}

/** A new owner's term begins. */
export interface OwnerEntry {
  readonly kind: 'owner'
  readonly source: SourcePosition
  readonly epoch: number
  readonly foldVersion: number
  /** JSON of what folds may read of the settings from here on. */
  readonly settings: string
  /** The term follows a pre-load of history: timers get one full time-out before they may condemn anyone. */
  readonly preloaded: boolean
  readonly instance: string
  /** Who answers for the settings, and why they are as they are. */
  readonly actor?: string
  readonly reason?: string
}

export type JournalEntry = EventEntry | TimerEntry | OwnerEntry

/** An entry to append; without `source` it is a new one of this process. */
export type NewEntry =
  | (Omit<EventEntry, 'source'> & { readonly source?: SourcePosition })
  | Omit<TimerEntry, 'source'>
  | Omit<OwnerEntry, 'source'>
