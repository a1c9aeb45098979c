import type { ErrorObject } from 'ajv'
import { cut } from '../common/errors.js'
import { ApiError } from './errors.js'

type Fault = Pick<ErrorObject, 'keyword' | 'instancePath' | 'params'> &
  Partial<Pick<ErrorObject, 'message' | 'data' | 'parentSchema'>>

/** The refusal of a parameter of path or query that its schema does not allow: which, its value, and what a right one is. */
export function parameterError([fault]: readonly Fault[]): ApiError {
  if (fault === undefined) return new ApiError('PARAMETER_INVALID', 'a parameter is not valid')
  const { keyword, instancePath, params, data, message = 'is not valid' } = fault
  if (keyword === 'required') {
    return new ApiError('PARAMETER_INVALID', `${String(params['missingProperty'])} is required`)
  }
  const name = instancePath.slice(1)
  if (Array.isArray(data)) return new ApiError('PARAMETER_INVALID', `${name} is given ${data.length} times`)
  return new ApiError('PARAMETER_INVALID', `${name}: ${cut(data)} ${expected(fault) ?? message}`)
}

function expected({ parentSchema = {} }: Fault): string | undefined {
  const { enum: words, type, minimum, maximum } = parentSchema as Readonly<Record<string, unknown>>
  if (Array.isArray(words)) return `is not one of ${words.filter((word) => word !== '').join(', ')}`
  if (type !== 'integer') return undefined
  const bound = (word: string, value: unknown): string => (typeof value === 'number' ? ` ${word} ${value}` : '')
  return `is not a whole number${bound('from', minimum)}${bound('to', maximum)}`
}
