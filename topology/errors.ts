import { PulsefoldError } from '../common/errors.js'
import type { ErrorTable } from '../common/errors.js'

export const engineErrors = {
  ROW_NOT_DECLARED: { action: 'A mistake in the processor: declare the row in `reads` or `readsOfDeadline`.' },
  FOLD_FAILED: { action: 'A mistake in the processor: report it with the dead letter; the event changed nothing.' },
  DECODE_FAILED: { action: 'A mistake in the processor: report it with the dead letter; the record was left out.' },
  EVENT_REFUSED: {
    action: 'The journal does not take the event: it is too large, or unlike its schema. See its message.',
  },
  OUTPUT_TOO_LARGE: {
    action: 'A mistake in the processor: it makes a record that no log takes. Make it smaller, or several of it.',
  },
  BLOCK_UNREADABLE: {
    action: 'A journal record cannot be decoded. Check that nothing else writes to the journal topic.',
  },
  CHANGELOG_MISMATCH: {
    action: 'The changelog does not give the state it sealed; the store is rebuilt from the journal.',
  },
  JOURNAL_GAP: {
    action:
      'The journal no longer reaches back to the newest changelog marker. Restore the journal, or reset the state.',
  },
  MIRROR_FOREIGN: {
    action:
      "The other site's journal is not the one mirrored so far: its data was lost or replaced. Stop this site and remove its data directory.",
  },
  MIRROR_GAP: {
    action:
      'The other site has deleted records before they were mirrored: raise journalRetentionMs, or keep the sites connected.',
  },
  TASK_NOT_RUNNING: { action: 'The task is starting or stopping: ask again.', retryable: true },
} as const satisfies ErrorTable

/** What the engine reports; `details` name domain, partition and offset. */
export class EngineError extends PulsefoldError<keyof typeof engineErrors> {
  constructor(
    code: keyof typeof engineErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(engineErrors, code, message, context)
  }
}
