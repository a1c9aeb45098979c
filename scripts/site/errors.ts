import { PulsefoldError } from '../../common/errors.js'
import type { ErrorTable } from '../../common/errors.js'

export const siteErrors = {
  SITE_NOT_STOPPED: {
    action:
      'This site is to rest, and its domains could not be stopped: the process ends, so that it does not act beside the other site. Start it again.',
  },
} as const satisfies ErrorTable

/** What makes a site end. */
export class SiteError extends PulsefoldError<keyof typeof siteErrors> {
  constructor(
    code: keyof typeof siteErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(siteErrors, code, message, context)
  }
}
