import { isPlainText } from '../cloudevents/cloud-event.js'
import type { InputErrorCode } from '../input-errors.js'
import type { E2tMessageErrorCode } from './errors.js'

/** A message that is not taken, and why. */
export interface Refusal {
  readonly kind: 'rejected'
  readonly code: InputErrorCode | E2tMessageErrorCode
  readonly message: string
  readonly field?: string
}

const NAME_LIMIT = 255

export function refusal(code: Refusal['code'], message: string, field?: string): Refusal {
  return { kind: 'rejected', code, message, ...(field !== undefined && { field }) }
}

/** A name that can be part of a row's key, and be read. */
export function isName(text: string, limit = NAME_LIMIT): boolean {
  return text !== '' && text.length <= limit && isPlainText(text)
}
