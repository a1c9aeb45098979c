import { parseJson } from '../schemas/json.js'
import { ApiError } from './errors.js'

/** A request's JSON; undefined when the body is empty. Errors: BODY_MALFORMED, saying why. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  const parsed = parseJson(bytes)
  if (parsed.ok) return parsed.value
  throw new ApiError('BODY_MALFORMED', parsed.faults.map((fault) => fault.message).join('; '))
}
