import type { ErrorTable } from '../../common/errors.js'

/** Why the fold gives up an outcome that is right in itself: codes of dead letters. (address health, section 3, row 27) */
export const addressHealthErrors = {
  UNKNOWN_PLATFORM: { action: 'Create the platform, or correct its name in the outcome.' },
  UNKNOWN_ADDRESS: {
    action: 'Add the address to the platform, or correct it in the outcome: it is compared byte for byte.',
  },
} as const satisfies ErrorTable

export type AddressHealthErrorCode = keyof typeof addressHealthErrors
