import { isJsonObject, parseJson } from '../../schemas/json.js'
import { isFirstWord } from './enumerations.js'
import { E2Error } from './errors.js'

/** A request's body as JSON. Errors: E2_CORRUPTED_JSON. */
export function jsonOf(body: unknown): unknown {
  const parsed = parseJson(Buffer.isBuffer(body) ? quoteLongNumbers(body) : Buffer.alloc(0))
  if (!parsed.ok) throw new E2Error('E2_CORRUPTED_JSON')
  return parsed.value
}

/** As an object; Go's decoder takes null for one without members. */
export function objectOf(body: unknown): Readonly<Record<string, unknown>> {
  const value = jsonOf(body)
  if (value === null) return {}
  if (!isJsonObject(value)) throw new E2Error('E2_CORRUPTED_JSON')
  return value
}

/** A member of a type, or its zero value where it is absent. Errors: E2_CORRUPTED_JSON for another type. */
export function textIn(object: Readonly<Record<string, unknown>>, name: string): string {
  return memberIn(object, name, '', (value): value is string => typeof value === 'string')
}

export function numberIn(object: Readonly<Record<string, unknown>>, name: string): number {
  return memberIn(object, name, 0, (value): value is number => Number.isInteger(value))
}

export function objectIn(object: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> {
  return memberIn(object, name, {}, isJsonObject)
}

export function listIn(
  object: Readonly<Record<string, unknown>>,
  name: string,
): readonly Readonly<Record<string, unknown>>[] {
  const isList = (value: unknown): value is readonly Readonly<Record<string, unknown>>[] =>
    Array.isArray(value) && value.every(isJsonObject)
  return memberIn(object, name, [], isList)
}

function memberIn<Value>(
  object: Readonly<Record<string, unknown>>,
  name: string,
  zero: Value,
  isRight: (value: unknown) => value is Value,
): Value {
  const value = object[name] ?? zero
  if (!isRight(value)) throw new E2Error('E2_CORRUPTED_JSON')
  return value
}

/** JSON as protobuf writes it: members with zero values (0, "", false, empty lists, null) are left out, at any depth; elements of lists stay. */
export function withoutZeros(value: unknown, isZero: IsZero = (_name, member) => isZeroValue(member)): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutZeros(item, isZero))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, withoutZeros(member, isZero)] as const)
      .filter(([name, member]) => !isZero(name, member)),
  )
}

type IsZero = (name: string, member: unknown) => boolean

/** As before, of a configuration, which has enumerations: their first words are zero values, too. */
export function configurationWithoutZeros(value: unknown): unknown {
  return withoutZeros(value, (name, member) => isZeroValue(member) || isFirstWord(name, member))
}

function isZeroValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return value === undefined || value === null || value === 0 || value === false || value === ''
}

/** Whole numbers beyond 2^53, as texts: protobuf's JSON writes 64-bit values so. */
function quoteLongNumbers(json: Buffer): Buffer {
  const text = json.toString('utf8')
  if (!/\d{16}/.test(text)) return json
  return Buffer.from(
    text.replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) => (token.startsWith('"') ? token : `"${token}"`)),
  )
}
