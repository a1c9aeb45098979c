import { PulsefoldError } from '../../common/errors.js'
import type { ErrorContext } from '../../common/errors.js'

export const operatorErrors = {
  PULSEFOLD_NOT_REACHED: {
    action: 'Start Pulsefold (./scripts/start), or give the address of a running instance with --url.',
    retryable: true,
  },
  PULSEFOLD_WITHOUT_IT: {
    action:
      'Ask a Pulsefold that has what this is about: `site` is for two sites (`sitePeerUrl`), `platforms` for one whose `domains` have address-health.',
  },
  PULSEFOLD_REFUSED: { action: 'Read the answer in the message.' },
} as const

/** Why a command got no answer from the instance it asked. */
export class OperatorError extends PulsefoldError<keyof typeof operatorErrors> {
  constructor(code: keyof typeof operatorErrors, message: string, context?: ErrorContext) {
    super(operatorErrors, code, message, context)
  }
}
