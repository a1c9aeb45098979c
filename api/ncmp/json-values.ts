import { cut } from '../../common/errors.js'

/** A JSON object: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A JSON scalar as text, as upstream takes numbers and booleans where it wants a string; undefined for the rest. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  return undefined
}

/** A value for a text that upstream gives without quotes: short, line breaks and control characters escaped. */
export function shown(value: unknown, limit?: number): string {
  return cut(value, limit).replace(/^"|"$/g, '')
}
