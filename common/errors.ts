/** What an operator sees of an error code: the way out, and whether a repeat may help. */
export interface ErrorSpec {
  readonly action: string
  readonly retryable?: true
}

/** A family's codes. Each family file exports one such table and one class; all are collected in `scripts/error-tables.ts`. */
export type ErrorTable = Readonly<Record<string, ErrorSpec>>

export interface ErrorContext {
  /** Values for logs and answers; keys are field names. Long values are cut by the caller with `cut`. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/**
 * Base of all errors of Pulsefold. `code` is stable and documented; `message` says what happened with which values;
 * `action` says what to do next.
 */
export abstract class PulsefoldError<Code extends string = string> extends Error {
  readonly code: Code
  readonly action: string
  readonly retryable: boolean
  readonly details: Readonly<Record<string, unknown>>

  constructor(table: Readonly<Record<Code, ErrorSpec>>, code: Code, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause })
    this.name = new.target.name
    this.code = code
    this.action = table[code].action
    this.retryable = table[code].retryable ?? false
    this.details = context.details ?? {}
  }
}

/**
 * A value for an error text, as JSON: at most `limit` characters, control characters, line breaks and marks that turn
 * the direction of writing escaped. Never throws.
 */
export function cut(value: unknown, limit = 80): string {
  const json = toJson(typeof value === 'string' ? value.slice(0, limit + 1) : value)
  const escaped = escapeControls(json)
  // Not in the middle of a surrogate pair.
  return escaped.length <= limit ? escaped : escaped.slice(0, limit).replace(/[\ud800-\udbff]$/, '') + '…'
}

/** Control characters, line breaks and marks that turn the direction of writing as JSON escapes them. */
export function escapeControls(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (c) => {
    return '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')
  })
}

function toJson(value: unknown): string {
  try {
    const json = JSON.stringify(value ?? null, (_key, item: unknown) =>
      typeof item === 'bigint' ? item.toString() : item,
    ) as string | undefined
    return json ?? `"[${typeof value}]"`
  } catch {
    return `"[${typeof value}]"`
  }
}

/** The error itself, or what was thrown wrapped in one. */
export function ensureError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(cut(thrown))
}

/** Ends each switch over a union: a new member is then a type error at every place that must know it. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value ${cut(value)}`)
}
