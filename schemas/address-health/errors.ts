import type { ErrorTable } from '../../common/errors.js'

/** Why a call outcome is refused besides what may be wrong with any event: codes of dead letters, and of `POST /events`. */
export const callOutcomeErrors = {
  MISSING_OUTCOME_MEMBER: { action: 'Give the outcome `platform`, `address`, `result` and `callId`.' },
  INVALID_OUTCOME_MEMBER: {
    action: 'Send texts of 1 to 255 characters without control characters; `result` success, failure or ignored.',
  },
} as const satisfies ErrorTable

export type CallOutcomeErrorCode = keyof typeof callOutcomeErrors
