import type { ErrorTable } from '../../common/errors.js'

/** Why the fold gives up an event that is right in itself: codes of dead letters. (trust levels, section 0) */
export const trustLevelErrors = {
  UNREGISTERED_CM_HANDLE: {
    action: 'Register the cm handle, then report it again: no registration came within `pendingLevelMs`.',
  },
} as const satisfies ErrorTable

export type TrustLevelErrorCode = keyof typeof trustLevelErrors
