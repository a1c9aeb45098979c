import { PulsefoldError } from '../common/errors.js'
import type { ErrorTable } from '../common/errors.js'

export const storeErrors = {
  STORE_CLOSED: { action: 'The store is closing or closed: ask again, its new owner answers.', retryable: true },
  STORE_IN_USE: { action: 'Another process uses this directory. Stop it, or set another dataDir.' },
  STORE_NOT_A_DIRECTORY: {
    action: 'Something that is not a directory stands at this path. Move it away, or set another dataDir.',
  },
  STORE_CORRUPT: { action: 'The files are damaged. The store is set aside and rebuilt; check the disk.' },
  STORE_MISMATCH: {
    action:
      'A check found rows or index entries that are not those written: damage that no read has shown. The store is set aside and rebuilt; check the disk.',
  },
  STORE_WRITE_FAILED: {
    action: 'The disk refused a write. Free space or mend it; nothing was committed past it.',
    retryable: true,
  },
  STORE_UNAVAILABLE: {
    action: 'The system refused access to the files (rights, open files, memory); mend that.',
    retryable: true,
  },
} as const satisfies ErrorTable

/** What a key-value store refuses, with the directory in `details.location`. */
export class StoreError extends PulsefoldError<keyof typeof storeErrors> {
  constructor(
    code: keyof typeof storeErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(storeErrors, code, message, context)
  }
}

/** A read, write or check found the store's files damaged: it is of no use any more. */
export function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === 'STORE_CORRUPT' || error.code === 'STORE_MISMATCH')
}
