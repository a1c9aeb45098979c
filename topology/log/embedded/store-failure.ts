import { ensureError } from '../../../common/errors.js'
import { StoreError } from '../../../state-stores/errors.js'
import { LogError } from '../errors.js'

/** What a failure of the store means to a user of the log. */
export function logErrorOf(thrown: unknown): LogError {
  if (thrown instanceof LogError) return thrown
  const cause = ensureError(thrown)
  if (cause instanceof StoreError) {
    if (cause.code === 'STORE_CLOSED') return new LogError('LOG_CLOSED', `the log's store is closed`, { cause })
    if (cause.code === 'STORE_IN_USE') return new LogError('LOG_DIRECTORY_IN_USE', cause.message, { cause })
    if (cause.code === 'STORE_CORRUPT') return new LogError('LOG_DAMAGED', cause.message, { cause })
  }
  return new LogError('LOG_UNAVAILABLE', `the log's store failed: ${cause.message}`, { cause })
}

/** As `logErrorOf`, of a store that did not open: what stands in the way of its directory is told in the store's own words. */
export function openErrorOf(thrown: unknown): Error {
  const told = ['STORE_NOT_A_DIRECTORY', 'STORE_WRITE_FAILED', 'STORE_UNAVAILABLE']
  return thrown instanceof StoreError && told.includes(thrown.code) ? thrown : logErrorOf(thrown)
}
