import { isUtf8 } from 'node:buffer'
import { cut, ensureError } from '../common/errors.js'
import { refuse } from './input-errors.js'
import type { InputResult } from './input-errors.js'
import { nestsDeeperThan } from './json-text.js'

/** Objects and arrays inside each other, in any body. (trust levels, section 10) */
export const MAX_JSON_NESTING = 64

/**
 * Parses JSON that a stranger sent; never throws. Refused: MALFORMED_TEXT, NESTED_TOO_DEEPLY (seen before parsing),
 * MALFORMED_JSON, and FORBIDDEN_MEMBER for what could reach a prototype, `field` naming its path. A byte order mark is skipped.
 */
export function parseJson(json: Buffer): InputResult<unknown> {
  if (nestsDeeperThan(json, MAX_JSON_NESTING)) {
    return refuse('NESTED_TOO_DEEPLY', `JSON nests deeper than ${MAX_JSON_NESTING} objects and arrays`)
  }
  const text = textOf(json)
  if (text === undefined) return refuse('MALFORMED_TEXT', 'JSON is not valid UTF-8')
  let value: unknown
  try {
    value = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    return refuse('MALFORMED_JSON', `not valid JSON: ${cut(ensureError(error).message, 160)}`)
  }
  if (mayNameForbidden(text)) {
    const path = forbiddenPath(value, '')
    if (path !== undefined)
      return refuse('FORBIDDEN_MEMBER', `member ${cut(path)} is not allowed`, cut(path, 255).slice(1, -1))
  }
  return { ok: true, value }
}

/** UTF-8 bytes as text; undefined where they are not valid. */
export function textOf(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  // Bytes that are not UTF-8 come out as this character, which is also valid in itself.
  return text.includes('\ufffd') && !isUtf8(bytes) ? undefined : text
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Names can be spelled with escapes; all letters of the two are below U+0100. */
function mayNameForbidden(text: string): boolean {
  return text.includes('__proto__') || text.includes('constructor') || text.includes('\\u00')
}

function forbiddenPath(value: unknown, path: string): string | undefined {
  if (Array.isArray(value)) {
    for (const [index, element] of value.entries()) {
      const found = forbiddenPath(element, `${path}[${index}]`)
      if (found !== undefined) return found
    }
  } else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const memberPath = path === '' ? name : `${path}.${name}`
      if (name === '__proto__') return memberPath
      if (name === 'constructor' && isJsonObject(member) && Object.hasOwn(member, 'prototype')) {
        return `${memberPath}.prototype`
      }
      const found = forbiddenPath(member, memberPath)
      if (found !== undefined) return found
    }
  }
  return undefined
}
