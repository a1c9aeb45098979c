import { ApiError, retryAfter } from '../errors.js'

const RETRY_MS = 1000

/** The answer to what a site could not do: the two cannot meet, or something else goes on. */
export function refusalOf({ reason, message }: { reason: 'conflict' | 'unreachable'; message: string }): ApiError {
  if (reason === 'conflict') return new ApiError('SITE_CONFLICT', message)
  return new ApiError('SITE_UNREACHABLE', message, { headers: retryAfter(RETRY_MS) })
}
