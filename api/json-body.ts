import { parseJson } from '../schemas/json.js'
import { quoteNumbers } from '../schemas/json-text.js'
import { ApiError } from './errors.js'

/**
 * A request's JSON; undefined when the body is empty. With `numbersAsTexts` each number is the text that was sent, as where
 * NCMP reads scalars as strings. Errors: BODY_MALFORMED, saying why.
 */
export function parseJsonBody(bytes: Buffer, numbersAsTexts: boolean): unknown {
  if (bytes.length === 0) return undefined
  const parsed = parseJson(numbersAsTexts ? quoteNumbers(bytes) : bytes)
  if (parsed.ok) return parsed.value
  throw new ApiError('BODY_MALFORMED', parsed.faults.map((fault) => fault.message).join('; '))
}
