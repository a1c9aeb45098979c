import { cut } from '../../common/errors.js'
import { isJsonObject } from '../../schemas/json.js'
import { ApiError, inShort } from '../errors.js'
import type { Fault } from '../errors.js'

/** Reads the members of a body and collects all that is wrong with them. */
export interface Members {
  /**
   * The member's value as `read` gives it; null where it is absent. `expected` says what a right one is; `read` answers
   * undefined for a wrong one.
   */
  take<Value>(name: string, expected: string, read: (value: unknown) => Value | undefined): Value | null
  /** As `take`; its absence is wrong, too. */
  require<Value>(name: string, expected: string, read: (value: unknown) => Value | undefined): Value | null
  wrong(field: string, message: string): void
  /** Errors: BODY_INVALID, naming each wrong member. */
  check(): void
}

/** Errors: BODY_INVALID for what is no JSON object. */
export function membersOf(body: unknown): Members {
  if (!isJsonObject(body)) throw new ApiError('BODY_INVALID', 'the body is not a JSON object')
  const faults: Fault[] = []
  const wrong = (field: string, message: string, code = 'INVALID_VALUE'): void => {
    faults.push({ index: 0, code, field, message: `${field} ${message}` })
  }
  const take: Members['take'] = (name, expected, read) => {
    const value = Object.hasOwn(body, name) ? body[name] : undefined
    if (value === undefined) return null
    const taken = read(value)
    if (taken !== undefined) return taken
    wrong(name, `is ${cut(value)}, not ${expected}`)
    return null
  }
  return {
    take,
    require(name, expected, read) {
      if (!Object.hasOwn(body, name)) wrong(name, `is missing: ${expected}`, 'MISSING_VALUE')
      return take(name, expected, read)
    },
    wrong,
    check() {
      if (faults.length > 0) throw new ApiError('BODY_INVALID', inShort(faults), { faults })
    },
  }
}

/** Of a member: a whole number between the two. */
export function wholeNumber(least: number, most: number): (value: unknown) => number | undefined {
  return (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most ? value : undefined
}
