import { PulsefoldError } from '../../common/errors.js'
import type { ErrorTable } from '../../common/errors.js'

export const archiveErrors = {
  ARCHIVE_UNREADABLE: { action: 'Name a directory that `archive` has made.' },
  ARCHIVE_DAMAGED: {
    action:
      'The archive is not as it was written: run `archive check`, and take another copy. What it says is no proof.',
  },
  ARCHIVE_IN_USE: {
    action:
      'Wait for the other run of `archive`; where none runs, as on another machine by that number, delete the file.',
  },
  ARCHIVE_MASK_INVALID: { action: 'Name fields that are in entries; the message names them.' },
  ARCHIVE_OTHER: {
    action: 'The archive is of another application, topic or mask. Name another directory for this one.',
  },
} as const satisfies ErrorTable

/** What an archive cannot do; `details` name the file. */
export class ArchiveError extends PulsefoldError<keyof typeof archiveErrors> {
  constructor(
    code: keyof typeof archiveErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(archiveErrors, code, message, context)
  }
}
