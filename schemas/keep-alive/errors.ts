import type { ErrorTable } from '../../common/errors.js'

/** Why a message of an E2 termination is refused: codes of dead letters, and of faults in answers to `POST /events`. */
export const e2tMessageErrors = {
  INVALID_RIC: {
    action: 'Give the attribute `ric` at most 64 characters without control characters, or leave it out.',
  },
  MISSING_RAN_NAME: { action: 'Name the RAN in the attribute `meid`, or in the member `ranName` of a setup.' },
  INVALID_RAN_NAME: { action: 'Use RAN names of at most 255 characters without control characters.' },
  CONFLICTING_RAN_NAMES: { action: 'Give `meid` and `ranName` the same name, or leave one out.' },
  INVALID_E2T_ADDRESS: { action: 'Use E2T addresses of at most 255 characters without control characters.' },
  INVALID_SETUP: { action: 'Send the setup with the members that the message names.' },
} as const satisfies ErrorTable

export type E2tMessageErrorCode = keyof typeof e2tMessageErrors
