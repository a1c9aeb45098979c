import { PulsefoldError } from '../common/errors.js'
import type { ErrorSpec } from '../common/errors.js'

export interface HttpErrorSpec extends ErrorSpec {
  readonly status: number
  /** What kind of mistake it is; the `message` of the NCMP surface. */
  readonly title: string
}

const invalid = (title: string, action: string, status = 400): HttpErrorSpec => ({ status, title, action })
const askAgain = (title: string, action: string, status = 503): HttpErrorSpec => ({
  status,
  title,
  action,
  retryable: true,
})

/** Everything that HTTP refuses, with its status. */
export const apiErrors = {
  BODY_MALFORMED: invalid('Request body is not readable', 'Send the JSON that the route asks for.'),
  BODY_INVALID: invalid('Request body is not valid', 'Correct the member that the message names.'),
  BODY_TOO_LARGE: invalid('Request body is too large', 'Send less at once.', 413),
  MEDIA_TYPE_UNSUPPORTED: invalid(
    'Media type is not supported',
    'Send JSON, not compressed, with its content-type.',
    415,
  ),
  PARAMETER_INVALID: invalid('Request parameter is not valid', 'Correct the parameter that the message names.'),
  PATH_MALFORMED: invalid('Path is not valid', 'Percent-encode the path once, as UTF-8.'),
  PATH_TOO_LONG: invalid('Path is too long', 'Ids have up to 255 characters, alternate ids up to 2,048.', 414),
  HEADERS_TOO_LARGE: invalid('Request headers are too large', 'Send at most 64 KiB of request line and headers.', 431),
  REQUEST_MALFORMED: invalid('Request is not readable', 'Send HTTP/1.1.'),
  REQUEST_TIMEOUT: invalid('Request did not arrive in time', 'Send the whole request within 20 s.', 408),
  CLIENT_GONE: invalid('Client closed the request', 'Nobody is there to read this.', 499),
  UNAUTHORIZED: invalid('Unauthorized', 'Send the token of the setting `auditToken` as bearer.', 401),
  ROUTE_NOT_FOUND: invalid('Not found', 'See /openapi.json for the routes.', 404),
  METHOD_NOT_ALLOWED: invalid('Method not allowed', 'Use a method that the Allow header names.', 405),
  QUERY_INVALID: invalid('Invalid Query Parameter.', 'Correct the condition that the message names.'),
  CURSOR_INVALID: invalid('Invalid Query Parameter.', 'Start the search afresh, without `after`.'),
  DMI_PLUGIN_INVALID: invalid('Invalid DMI plugin address', 'Register an http or https address that may be called.'),
  CM_HANDLE_NOT_FOUND: invalid('Cm handle not found', 'Register the cm handle, or correct the reference.', 404),
  PLATFORM_NOT_FOUND: invalid('Platform not found', 'Create the platform, or correct its name.', 404),
  PLATFORM_EXISTS: invalid('Platform exists', 'Choose another name, or change the platform that is there.', 409),
  PLATFORM_FULL: invalid('Platform is full', 'Remove an address first, or make a second platform.', 409),
  ADDRESS_NOT_FOUND: invalid('Address not found', 'Look at the platform for the positions that there are.', 404),
  ADDRESS_EXISTS: invalid('Address exists', 'The platform has the address: nothing is left to do.', 409),
  ADDRESS_MOVED: invalid('Another address', 'Look where the address stands now, and ask again for that position.', 409),
  INVALID_STATE: invalid('Not in this state', 'Look at the state of the address: the message names it.', 409),
  NONE_AVAILABLE: askAgain('No address is available', 'Ask again after the time in Retry-After, or repair an address.'),
  UNKNOWN_EVENT_TYPE: invalid('Event type is not known', 'Send a known type, or name the topic with ?topic=.'),
  EVENTS_REJECTED: invalid('Events are not valid', 'Correct the events listed; nothing was taken.'),
  TOPIC_NOT_FOUND: invalid('Topic not found', 'See /ops/topology for the topics.', 404),
  DEAD_LETTER_NOT_FOUND: invalid('Dead letter not found', 'See /ops/dead-letters for their places.', 404),
  DEAD_LETTER_CUT: invalid('Dead letter is not whole', 'Let its producer send it again, smaller.', 409),
  DEAD_LETTER_REFUSED: invalid('Dead letter is refused again', 'Mend first what the message names.', 409),
  SOURCE_NOT_FOUND: invalid('Source not found', 'See /ops/sources for the partitions of input topics.', 404),
  SOURCE_NOT_STOPPED: invalid('Source is read', 'Nothing needs to be done.', 409),
  OVERLOADED: askAgain('Too much at once', 'Send again after the time in Retry-After.'),
  RESTORING: askAgain('State is being restored', 'Ask again after the time in Retry-After.'),
  NOT_OWNED: askAgain('State is moving between instances', 'Ask again after the time in Retry-After.'),
  NOT_UP_TO_POSITION: askAgain('The asked position is not reached', 'Ask again, or with a lower minimum position.'),
  TOO_STALE: askAgain('State is staler than asked for', 'Ask again, or allow more staleness.'),
  AUDIT_ARCHIVE_UNUSABLE: invalid(
    'The archive for audits cannot be read',
    'Have `auditArchive` name a directory that `archive` has made of these journals, or leave it empty.',
    503,
  ),
  SITE_NOT_ACTIVE: askAgain(
    'This site is not active',
    'Ask the site that x-pulsefold-active-site names, or this one later.',
  ),
  SITE_UNREACHABLE: askAgain('The other site does not answer', 'Ask again, or ask the other site itself.'),
  SITE_CONFLICT: invalid('Not while this goes on', 'Wait for its end: GET /site tells how far it is.', 409),
  SITE_UNKNOWN: invalid('Only for the other site', 'Set `sitePeerToken` to the same text on both sites.', 401),
  STOPPING: askAgain('The service is stopping', 'Ask again: another instance or the next start answers.'),
  UNAVAILABLE: askAgain('The service is not available', 'Send again after the time in Retry-After.'),
  OUTCOME_OPEN: askAgain('The outcome is open', 'Send again with the same Idempotency-Key to learn it.', 504),
  INSTANCE_UNKNOWN: invalid('Not an instance', 'Ask the routes of /openapi.json; these are for other instances.', 401),
  INSTANCE_INCOMPATIBLE: invalid('Not the same version', 'Run the same version on all instances.', 409),
  INTERNAL: invalid('Internal Server Error', 'Search the log for the id in the answer.', 500),
} as const satisfies Readonly<Record<string, HttpErrorSpec>>

export type ApiErrorCode = keyof typeof apiErrors

/** One fault among several of a request. */
export interface Fault {
  readonly index: number
  readonly code: string
  readonly field: string
  readonly message: string
}

/** The first of several faults, and how many there are besides. */
export function inShort([first, ...more]: readonly Fault[]): string {
  const others =
    more.length === 0 ? '' : more.length === 1 ? ', and one more fault' : `, and ${more.length} more faults`
  return (first?.message ?? '') + others
}

export interface ApiErrorContext {
  /** In place of the code's own title. */
  readonly title?: string
  readonly faults?: readonly Fault[]
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
}

/** What a request is refused with. The message is for the caller: it carries nothing of our insides. */
export class ApiError extends PulsefoldError<ApiErrorCode> {
  readonly status: number
  readonly title: string
  readonly faults: readonly Fault[]
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ApiErrorCode, message: string, context: ApiErrorContext = {}) {
    super(apiErrors, code, message, context.cause === undefined ? {} : { cause: context.cause })
    this.status = apiErrors[code].status
    this.title = context.title ?? apiErrors[code].title
    this.faults = context.faults ?? []
    this.headers = context.headers ?? {}
  }
}

/** `Retry-After` in whole seconds, at least one. */
export function retryAfter(ms: number): Readonly<Record<string, string>> {
  return { 'retry-after': String(Math.max(1, Math.ceil(ms / 1000))) }
}
