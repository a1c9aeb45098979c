import { PulsefoldError } from '../../common/errors.js'
import type { ErrorContext } from '../../common/errors.js'

export const resetErrors = {
  INSTANCES_ALIVE: { action: 'Stop all instances of this applicationId, then reset again.' },
  JOURNAL_INCOMPLETE: {
    action:
      'Keep the changelogs: what the journals no longer hold would be lost. Restore the journals, or do not reset.',
  },
} as const

/** Why nothing was reset. */
export class ResetError extends PulsefoldError<keyof typeof resetErrors> {
  constructor(code: keyof typeof resetErrors, message: string, context?: ErrorContext) {
    super(resetErrors, code, message, context)
  }
}
