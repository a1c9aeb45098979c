import { PulsefoldError } from '../common/errors.js'
import type { QueryFailure } from '../topology/streams.js'
import { ApiError, retryAfter } from './errors.js'
import type { ApiErrorCode } from './errors.js'

/** Why a query has no answer → what the caller gets. */
export const queryFailureCodes = {
  restoring: 'RESTORING',
  notOwned: 'NOT_OWNED',
  notUpToPosition: 'NOT_UP_TO_POSITION',
  tooStale: 'TOO_STALE',
  stopping: 'STOPPING',
  storeFailed: 'INTERNAL',
} as const satisfies Record<QueryFailure, ApiErrorCode>

/** Codes of other families and of the HTTP framework → what the caller gets; any other error is INTERNAL. */
const foreignCodes: Readonly<Record<string, ApiErrorCode>> = {
  LOG_CLOSED: 'STOPPING',
  LOG_UNAVAILABLE: 'UNAVAILABLE',
  REGISTRY_UNAVAILABLE: 'UNAVAILABLE',
  AUDIT_MOMENT_INVALID: 'PARAMETER_INVALID',
  AUDIT_NOTHING_TO_READ: 'PARAMETER_INVALID',
  ARCHIVE_UNREADABLE: 'AUDIT_ARCHIVE_UNUSABLE',
  ARCHIVE_DAMAGED: 'AUDIT_ARCHIVE_UNUSABLE',
  ARCHIVE_OTHER: 'AUDIT_ARCHIVE_UNUSABLE',
  STORE_CLOSED: 'NOT_OWNED',
  TASK_NOT_RUNNING: 'NOT_OWNED',
  RECORD_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'MEDIA_TYPE_UNSUPPORTED',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'BODY_MALFORMED',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'BODY_MALFORMED',
  FST_ERR_BAD_URL: 'PATH_MALFORMED',
  FST_ERR_MAX_PARAM_LENGTH: 'PATH_TOO_LONG',
  FST_ERR_VALIDATION: 'PARAMETER_INVALID',
  ECONNRESET: 'REQUEST_MALFORMED',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
}

/** What each says to the caller where the error's own text is not for callers. */
const publicTexts: Readonly<Partial<Record<ApiErrorCode, string>>> = {
  MEDIA_TYPE_UNSUPPORTED: 'the content-type is not one that this route takes',
  BODY_TOO_LARGE: 'the body is larger than this route takes',
  BODY_MALFORMED: 'the body is empty, or shorter or longer than its content-length',
  PATH_MALFORMED: 'the path holds a broken percent escape',
  PATH_TOO_LONG: 'a part of the path is longer than any id can be',
  REQUEST_TIMEOUT: 'the request did not arrive in time',
  HEADERS_TOO_LARGE: 'request line and headers are larger than 64 KiB',
  REQUEST_MALFORMED: 'the request is not HTTP/1.1',
  STOPPING: 'the service is stopping',
  NOT_OWNED: 'the state asked for is moving between instances',
  RESTORING: 'the state asked for is being restored',
  NOT_UP_TO_POSITION: 'the state asked for has not reached the minimum position in time',
  TOO_STALE: 'the state asked for is staler than allowed',
  UNAVAILABLE: 'the log, or the schema registry, does not answer at the moment',
}

const RETRY_AFTER_MS = 1000

/** Any error as one that may be shown: our own as they are, known foreign ones translated, the rest INTERNAL with the id. */
export function publicError(error: unknown, requestId: string): ApiError {
  if (error instanceof ApiError) return error.code === 'INTERNAL' ? internal(error, requestId) : error
  const thrownCode = codeOf(error)
  const code = thrownCode === undefined ? undefined : foreignCodes[thrownCode]
  if (code === undefined) return internal(error, requestId)
  const message = textForCallers(code, error) ?? publicTexts[code] ?? 'refused'
  const retryable = error instanceof PulsefoldError && error.retryable
  return new ApiError(code, message, { cause: error, ...(retryable && { headers: retryAfter(RETRY_AFTER_MS) }) })
}

/** An error's own text where it is for callers: of what they sent, and to auditors of the archive, with what to do about it. */
function textForCallers(code: ApiErrorCode, error: unknown): string | undefined {
  if (code === 'PARAMETER_INVALID' && error instanceof Error) return error.message
  if (code !== 'AUDIT_ARCHIVE_UNUSABLE' || !(error instanceof PulsefoldError)) return undefined
  return `auditArchive: ${error.message}. ${error.action}`
}

/** The refusal for a query without answer. The engine's own text is kept as the cause, for the log. */
export function queryError(reason: QueryFailure, message: string, retryAfterMs: number): ApiError {
  const code = queryFailureCodes[reason]
  if (code === 'INTERNAL') return new ApiError(code, message)
  return new ApiError(code, publicTexts[code] ?? 'refused', {
    headers: retryAfter(retryAfterMs),
    cause: new Error(message),
  })
}

function internal(cause: unknown, requestId: string): ApiError {
  return new ApiError('INTERNAL', `Check logs for details. The request's id is ${requestId}.`, { cause })
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
