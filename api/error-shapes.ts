import { STATUS_CODES } from 'node:http'
import type { ApiError, Fault } from './errors.js'

/** `ncmp`: upstream's clients; `own`: everything else. One error shape each. (trust levels, sections 1.1 and 10) */
export type Surface = 'ncmp' | 'own'

export interface NcmpErrorBody {
  /** Spring's text of the status, as "404 NOT_FOUND". */
  readonly status: string
  readonly message: string
  readonly details: string
}

export interface OwnErrorBody {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly errors?: readonly Fault[]
}

export function errorBody(surface: Surface, error: ApiError): NcmpErrorBody | OwnErrorBody {
  const { status, title } = error
  if (surface === 'ncmp') return { status: springStatus(status), message: title, details: error.message }
  const body = { status, code: error.code, message: error.message }
  return error.faults.length === 0 ? body : { ...body, errors: error.faults }
}

/** Which surface a path belongs to. */
export function surfaceOf(url: string, ncmpBasePaths: readonly string[]): Surface {
  const path = /^[^?#]*/.exec(url)?.[0] ?? ''
  return ncmpBasePaths.some((base) => path === base || path.startsWith(`${base}/`)) ? 'ncmp' : 'own'
}

function springStatus(status: number): string {
  const name = STATUS_CODES[status] ?? 'Error'
  return `${status} ${name.toUpperCase().replace(/[^A-Z]+/g, '_')}`
}
