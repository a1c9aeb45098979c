import { PulsefoldError } from '../../common/errors.js'
import type { ErrorTable } from '../../common/errors.js'

export const auditErrors = {
  AUDIT_SOURCE_UNREADABLE: { action: 'Name a data directory, an archive, or the address of a running Pulsefold.' },
  AUDIT_SOURCE_IN_USE: { action: 'Name the Pulsefold that runs on it by --url, or stop it.' },
  AUDIT_ACCESS_DENIED: { action: 'Send the token of the setting `auditToken`, or ask from the same machine.' },
  AUDIT_MOMENT_INVALID: {
    action: 'Give a time as 2026-01-31T12:00:00Z or in ms, or a position as topic/partition/offset.',
  },
  AUDIT_NOTHING_TO_READ: { action: 'Check applicationId and the source: there is no journal of this domain in it.' },
  AUDIT_QUERY_UNKNOWN: { action: 'Ask for a query that the domain has; the message names them.' },
  AUDIT_SETTING_UNKNOWN: { action: 'Set what a fold reads; the message names it.' },
  AUDIT_SETTING_INVALID: { action: 'Give a value of the kind that is in force; the message names it.' },
} as const satisfies ErrorTable

/** What an audit cannot do. */
export class AuditError extends PulsefoldError<keyof typeof auditErrors> {
  constructor(
    code: keyof typeof auditErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(auditErrors, code, message, context)
  }
}
