import { parse } from 'secure-json-parse'
import { ApiError } from './errors.js'

const MAX_NESTING = 64
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * A request's JSON; undefined when the body is empty. Errors: BODY_MALFORMED for what is not UTF-8, not JSON, nested deeper than 64, or names
 * `__proto__` or `constructor.prototype`.
 */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (isNestedDeeper(bytes, MAX_NESTING)) {
    throw new ApiError('BODY_MALFORMED', `the body is nested deeper than ${MAX_NESTING}`)
  }
  try {
    return parse(utf8.decode(bytes), { protoAction: 'error', constructorAction: 'error' })
  } catch (cause) {
    throw new ApiError('BODY_MALFORMED', 'the body is not JSON in UTF-8, or names __proto__ or constructor.prototype', {
      cause,
    })
  }
}

/** Before parsing, so that depth costs no stack; a body that is not JSON may count wrongly, and is refused anyway. */
function isNestedDeeper(bytes: Buffer, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (inString) {
      if (byte === 0x5c) i++
      else if (byte === 0x22) inString = false
    } else if (byte === 0x22) inString = true
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > limit) return true
    } else if (byte === 0x5d || byte === 0x7d) depth--
  }
  return false
}
