import { cut } from '../../common/errors.js'
import { StoreError } from '../errors.js'
import type { storeErrors } from '../errors.js'

type Code = keyof typeof storeErrors

// RocksDB's errors reach us as texts only: "Corruption: …", "IO error: … LOCK: Resource temporarily unavailable".
// Where the system refuses the lock's file it is not in use: `diskFull` and `refused` are asked first.
const inUse = /\/LOCK: |lock hold by current process/
const diskFull = /no space left on device|disk quota exceeded|file too large|read-only file system/i
const refused = /too many open files|permission denied|operation not permitted|cannot allocate memory/i
const damaged = /^Corruption|no such file/i
const notADirectory = /^(ENOTDIR|EEXIST)/
// What Node says of a directory in a read-only file system, for one.
const notMade = /^ENOENT: .*, mkdir/

/** Whether a get found no such key. */
export function isNotFound(error: Error): boolean {
  return error.message.startsWith('NotFound')
}

/** Why a store did not open: an error of RocksDB, or of the file system before. */
export function openError(location: string, cause: Error): StoreError {
  const { message } = cause
  if (message.includes('error_if_exists')) {
    const what = `the MANIFEST of the store ${location} was cut: a write-ahead log that it asks for is gone`
    return new StoreError('STORE_CORRUPT', what, { details: { location } })
  }
  if (notMade.test(message)) {
    const what = `the directory ${location} cannot be made: its file system may be read-only`
    return new StoreError('STORE_UNAVAILABLE', what, { details: { location }, cause })
  }
  const otherwise = inUse.test(message) ? 'STORE_IN_USE' : 'STORE_CORRUPT'
  const code = notADirectory.test(message) ? 'STORE_NOT_A_DIRECTORY' : codeOf(cause, otherwise)
  return storeError(code, `cannot open the store ${location}`, location, cause)
}

/** A failed read is damage, unless the system refused it for want of something. */
export function readError(location: string, cause: Error): StoreError {
  return storeError(codeOf(cause, 'STORE_CORRUPT'), `cannot read from the store ${location}`, location, cause)
}

export function writeError(location: string, cause: Error): StoreError {
  const code = damaged.test(cause.message) ? 'STORE_CORRUPT' : 'STORE_WRITE_FAILED'
  return storeError(code, `cannot write to the store ${location}`, location, cause)
}

function codeOf({ message }: Error, otherwise: Code): Code {
  if (diskFull.test(message)) return 'STORE_WRITE_FAILED'
  return refused.test(message) ? 'STORE_UNAVAILABLE' : otherwise
}

function storeError(code: Code, what: string, location: string, cause: Error): StoreError {
  return new StoreError(code, `${what}: ${cut(cause.message, 300)}`, { details: { location }, cause })
}
