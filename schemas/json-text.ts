/** JSON as bytes, without parsing: one linear pass each, no recursion. Structure characters are ASCII, so UTF-8 needs no decoding. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Whether objects and arrays nest deeper than `limit`; of text that is not JSON the answer means nothing. */
export function nestsDeeperThan(json: Uint8Array, limit: number): boolean {
  if (json.length <= limit) return false
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at) - 1
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > limit) return true
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
  }
  return false
}

/**
 * The text of a member of valid JSON, byte for byte as sent: a number keeps all its digits, where JSON.parse would round it
 * beyond 2^53. `path` goes through objects; of repeated names the last counts, as in JSON.parse. Absent: undefined.
 */
export function memberText(json: Buffer, path: readonly string[]): Buffer | undefined {
  let value: Buffer | undefined = trimmed(json, 0, json.length)
  for (const name of path) {
    if (value === undefined) return undefined
    value = memberOf(value, name)
  }
  return value
}

/**
 * The elements of an array, each as the bytes sent; whether they are JSON is left to whoever parses them. 'NOT_AN_ARRAY':
 * something else; 'MALFORMED': not closed, or something follows; 'TOO_MANY': more than `limit`.
 */
export function elementTexts(json: Buffer, limit: number): Buffer[] | 'NOT_AN_ARRAY' | 'MALFORMED' | 'TOO_MANY' {
  const start = skipBlank(json, 0)
  if (json[start] !== OPEN_ARRAY) return 'NOT_AN_ARRAY'
  const elements: Buffer[] = []
  let at = skipBlank(json, start + 1)
  if (json[at] === CLOSE_ARRAY) return skipBlank(json, at + 1) === json.length ? elements : 'MALFORMED'
  for (;;) {
    const end = endOfValue(json, at)
    elements.push(trimmed(json, at, end))
    if (elements.length > limit) return 'TOO_MANY'
    if (json[end] === CLOSE_ARRAY) return skipBlank(json, end + 1) === json.length ? elements : 'MALFORMED'
    if (json[end] !== COMMA) return 'MALFORMED'
    at = end + 1
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const WHOLE_NUMBER = /^-?(?:0|[1-9]\d*)$/

/**
 * The same JSON with each number, or each one written without fraction and exponent, as a string of its text, so that no digit
 * is lost in parsing. What is no JSON number stays as it is, for the parser to refuse.
 */
export function quoteNumbers(json: Buffer, which: 'all' | 'whole' = 'all'): Buffer {
  const quoted = which === 'all' ? NUMBER : WHOLE_NUMBER
  const parts: (Buffer | string)[] = []
  let done = 0
  for (let at = 0; at < json.length; at++) {
    if (json[at] === QUOTE) {
      at = endOfString(json, at) - 1
    } else if (isNumberStart(json[at])) {
      const start = at
      while (isNumberByte(json[at + 1])) at++
      const text = json.toString('latin1', start, at + 1)
      if (!quoted.test(text)) continue
      parts.push(json.subarray(done, start), `"${text}"`)
      done = at + 1
    }
  }
  if (done === 0) return json
  return Buffer.concat(
    [...parts, json.subarray(done)].map((part) => (typeof part === 'string' ? Buffer.from(part) : part)),
  )
}

function isNumberStart(byte: number | undefined): boolean {
  return byte === 0x2d || (byte !== undefined && byte >= 0x30 && byte <= 0x39)
}

/** A byte that can stand in a number, so that a run of them is a whole token. */
function isNumberByte(byte: number | undefined): boolean {
  if (byte === undefined) return false
  return (
    (byte >= 0x30 && byte <= 0x39) || byte === 0x2d || byte === 0x2b || byte === 0x2e || byte === 0x45 || byte === 0x65
  )
}

function memberOf(object: Buffer, name: string): Buffer | undefined {
  if (object[0] !== OPEN_OBJECT) return undefined
  const quoted = Buffer.from(JSON.stringify(name))
  let found: Buffer | undefined
  let at = skipBlank(object, 1)
  while (object[at] === QUOTE) {
    const endOfName = endOfString(object, at)
    const colon = skipBlank(object, endOfName)
    const end = endOfValue(object, colon + 1)
    if (isName(object, at, endOfName, quoted, name)) found = trimmed(object, colon + 1, end)
    at = skipBlank(object, end + 1)
  }
  return found
}

/** A name may also be spelled with escapes, which make it longer. */
function isName(json: Buffer, start: number, end: number, quoted: Buffer, name: string): boolean {
  const length = end - start
  if (length === quoted.length && json.compare(quoted, 0, length, start, end) === 0) return true
  return json.subarray(start, end).includes(BACKSLASH) && JSON.parse(json.toString('utf8', start, end)) === name
}

/** Where the value that starts at or after `at` ends: at the comma or bracket behind it, or at the end of the text. */
function endOfValue(json: Uint8Array, at: number): number {
  let depth = 0
  for (; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfString(json, at) - 1
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      if (depth === 0) return at
      depth--
    } else if (byte === COMMA && depth === 0) return at
  }
  return at
}

/** One beyond the closing quote of the string whose opening quote is at `at`. */
function endOfString(json: Uint8Array, at: number): number {
  for (at++; at < json.length; at++) {
    const byte = json[at]
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE) return at + 1
  }
  return json.length
}

/** Skips blanks, and a byte order mark at the very start. */
function skipBlank(json: Uint8Array, at: number): number {
  if (at === 0 && json[0] === 0xef && json[1] === 0xbb && json[2] === 0xbf) at = 3
  while (isBlank(json[at])) at++
  return at
}

function trimmed(json: Buffer, start: number, end: number): Buffer {
  start = skipBlank(json, start)
  while (end > start && isBlank(json[end - 1])) end--
  return json.subarray(start, end)
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
