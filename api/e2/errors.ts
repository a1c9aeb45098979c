import { PulsefoldError } from '../../common/errors.js'
import type { ErrorSpec } from '../../common/errors.js'

/** A refusal of the E2 Manager's interface: its number, text and status. */
export interface E2ErrorSpec extends ErrorSpec {
  readonly status: number
  readonly errorCode: number
  readonly text: string
}

const spec = (status: number, errorCode: number, text: string, action: string): E2ErrorSpec => ({
  status,
  errorCode,
  text,
  action,
})

/** (keep-alive, section 2) */
export const e2Errors = {
  E2_CORRUPTED_JSON: spec(400, 401, 'corrupted json', 'Send the JSON that the route asks for.'),
  E2_VALIDATION: spec(400, 402, 'Validation error', 'Send all members that the route asks for, with values.'),
  E2_NOT_FOUND: spec(404, 404, 'Resource not found', 'Correct the name of the RAN; /v1/nodeb/states lists all.'),
  E2_NODEB_EXISTS: spec(400, 406, 'Nodeb already exists', 'Update the RAN, or take another name.'),
  E2_NO_CONNECTED_RAN: spec(404, 406, 'No RAN in Connected State', 'Name RANs that are connected.'),
  E2_HEADER_VALIDATION: spec(
    415,
    415,
    'Header validation error',
    'Send the content type application/json, and nothing more in it.',
  ),
  E2_STORE: spec(500, 500, 'RNIB error', 'Search the log for the reason.'),
  E2_STORE_MOVING: {
    ...spec(503, 500, 'RNIB error', 'Ask again after the time in Retry-After: the state is being restored, or moves.'),
    retryable: true,
  },
  E2_INTERNAL: spec(500, 501, 'Internal Server Error. Please try again later', 'Search the log for the reason.'),
  E2_OUTCOME_OPEN: {
    ...spec(500, 501, 'Internal Server Error. Please try again later', 'Send again with the same Idempotency-Key.'),
    retryable: true,
  },
  E2_MESSAGE_NOT_SENT: spec(500, 502, 'RMR error', 'Send again: the log did not take the message in time.'),
  E2_NO_INSTANCE: {
    ...spec(503, 510, "The New RAN can't be added, please try later.", 'Start an E2 termination.'),
    retryable: true,
  },
} as const satisfies Readonly<Record<string, E2ErrorSpec>>

export type E2ErrorCode = keyof typeof e2Errors

/** What a request of the E2 Manager's clients is refused with. */
export class E2Error extends PulsefoldError<E2ErrorCode> {
  readonly status: number
  readonly errorCode: number
  readonly retryAfterMs: number

  constructor(code: E2ErrorCode, context: { readonly cause?: unknown; readonly retryAfterMs?: number } = {}) {
    super(e2Errors, code, e2Errors[code].text, context.cause === undefined ? {} : { cause: context.cause })
    this.status = e2Errors[code].status
    this.errorCode = e2Errors[code].errorCode
    this.retryAfterMs = context.retryAfterMs ?? (this.retryable ? 1000 : 0)
  }
}
