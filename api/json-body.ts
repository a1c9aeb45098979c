import { parseJson } from '../schemas/json.js'
import { quoteNumbers } from '../schemas/json-text.js'
import { ApiError } from './errors.js'

/**
 * A request's JSON; undefined when the body is empty. Numbers that come as texts have every digit that was sent: `all` where
 * NCMP reads scalars as strings, `whole` where a number without fraction is a name. Errors: BODY_MALFORMED, saying why.
 */
export function parseJsonBody(bytes: Buffer, numbersAsTexts: 'all' | 'whole' | 'none'): unknown {
  if (bytes.length === 0) return undefined
  const parsed = parseJson(numbersAsTexts === 'none' ? bytes : quoteNumbers(bytes, numbersAsTexts))
  if (parsed.ok) return parsed.value
  throw new ApiError('BODY_MALFORMED', parsed.faults.map((fault) => fault.message).join('; '))
}
