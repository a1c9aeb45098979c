/** What an operator sees of an error code: the way out, and whether a repeat may help. */
export interface ErrorSpec {
  readonly action: string
  readonly retryable?: true
}

/** A family's codes. Each family file exports one such table and one class; all are collected in `common/error-codes.test.ts`. */
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

/** A value for an error text: at most `limit` characters, line breaks and control characters escaped. */
export function cut(value: unknown, limit = 80): string {
  const text = JSON.stringify(typeof value === 'string' ? value : (value ?? null), (_key, item: unknown) =>
    typeof item === 'bigint' ? item.toString() : item,
  )
  const escaped = text.replace(/[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (c) => {
    return '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')
  })
  return escaped.length <= limit ? escaped : escaped.slice(0, limit) + '…'
}

/** The error itself, or what was thrown wrapped in one. */
export function ensureError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(cut(thrown))
}

/** Ends each switch over a union: a new member is then a type error at every place that must know it. */
export function assertNever(value: never): never {
  throw new TypeError(`unexpected value ${cut(value)}`)
}
