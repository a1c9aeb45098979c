import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../json.js'

type Schema = Readonly<Record<string, unknown>>

/** They say nothing about what is valid. */
const ANNOTATIONS = ['$schema', '$id', 'title', 'description', 'default', 'examples', 'format']

/**
 * Why a value that `narrower` allows may not be valid by `wider`; undefined: all are. For the part of JSON schema that we use;
 * other keywords must be the same in both. What `narrower` does not name counts as absent, unless `wider` is closed
 * (`additionalProperties: false`): readers of open objects ignore what they do not know.
 */
export function notIncluded(wider: unknown, narrower: unknown, path = 'the value'): string | undefined {
  if (!isJsonObject(wider) || !isJsonObject(narrower)) {
    return isDeepStrictEqual(wider, narrower) ? undefined : `${path} is declared otherwise`
  }
  const alternatives = alternativesOf(narrower)
  if (alternatives !== undefined) return first(alternatives, (each) => notIncluded(wider, each, path))
  const wanted = alternativesOf(wider)
  if (wanted !== undefined) return noneIncludes(wanted, narrower, path)
  return (
    otherTypes(wider, narrower, path) ??
    otherWords(wider, narrower, path) ??
    otherBounds(wider, narrower, path) ??
    otherMembers(wider, narrower, path) ??
    first(Object.keys(wider), (keyword) =>
      HANDLED.has(keyword) || isDeepStrictEqual(wider[keyword], narrower[keyword])
        ? undefined
        : `${keyword} of ${path} is not the same`,
    )
  )
}

const LOWER_BOUNDS = ['minimum', 'minLength', 'minItems']
const UPPER_BOUNDS = ['maximum', 'maxLength', 'maxItems']
const HANDLED = new Set([
  ...ANNOTATIONS,
  ...LOWER_BOUNDS,
  ...UPPER_BOUNDS,
  ...['type', 'enum', 'properties', 'required', 'additionalProperties', 'items', 'anyOf'],
])

function alternativesOf({ anyOf }: Schema): readonly Schema[] | undefined {
  return Array.isArray(anyOf) ? (anyOf as readonly Schema[]) : undefined
}

/** An alternative of the same title is the one meant. */
function noneIncludes(wanted: readonly Schema[], narrower: Schema, path: string): string | undefined {
  const named = wanted.filter(({ title }) => title !== undefined && title === narrower['title'])
  const reasons = (named.length > 0 ? named : wanted).map((each) => notIncluded(each, narrower, path))
  return reasons.includes(undefined) ? undefined : (reasons[0] ?? `${path} has no alternative`)
}

function otherTypes(wider: Schema, narrower: Schema, path: string): string | undefined {
  const wanted = listOf(wider['type'])
  if (wanted === undefined) return undefined
  const types = listOf(narrower['type'])
  if (types === undefined) return `${path} may be of any type`
  const isWanted = (type: unknown): boolean =>
    wanted.includes(type) || (type === 'integer' && wanted.includes('number'))
  return first(types, (type) => (isWanted(type) ? undefined : `${path} may be of type ${String(type)}`))
}

function otherWords(wider: Schema, narrower: Schema, path: string): string | undefined {
  const wanted = listOf(wider['enum'])
  if (wanted === undefined) return undefined
  const words = listOf(narrower['enum'])
  if (words === undefined) return `${path} may be any word`
  return first(words, (word) => (wanted.includes(word) ? undefined : `${path} may be ${String(word)}`))
}

function otherBounds(wider: Schema, narrower: Schema, path: string): string | undefined {
  const exceeds = (isBeyond: (bound: number, wanted: number) => boolean) => (keyword: string) => {
    const [bound, wanted] = [narrower[keyword], wider[keyword]]
    if (typeof wanted !== 'number') return undefined
    return typeof bound !== 'number' || isBeyond(bound, wanted) ? `${path} may exceed ${keyword} ${wanted}` : undefined
  }
  return (
    first(
      LOWER_BOUNDS,
      exceeds((bound, wanted) => bound < wanted),
    ) ??
    first(
      UPPER_BOUNDS,
      exceeds((bound, wanted) => bound > wanted),
    )
  )
}

function otherMembers(wider: Schema, narrower: Schema, path: string): string | undefined {
  const [wanted, given] = [membersOf(wider), membersOf(narrower)]
  const always = listOf(narrower['required']) ?? []
  const isClosed = wider['additionalProperties'] === false
  return (
    first(listOf(wider['required']) ?? [], (name) =>
      always.includes(name) ? undefined : `${path} may lack ${String(name)}`,
    ) ??
    first(Object.keys(given), (name) => {
      if (name in wanted) return notIncluded(wanted[name], given[name], path === 'the value' ? name : `${path}.${name}`)
      return isClosed ? `${path} may have ${name}` : undefined
    }) ??
    (isClosed && narrower['type'] === 'object' && narrower['additionalProperties'] !== false
      ? `${path} may have other members`
      : undefined) ??
    (wider['items'] === undefined ? undefined : notIncluded(wider['items'], narrower['items'], `each of ${path}`))
  )
}

function membersOf({ properties }: Schema): Schema {
  return isJsonObject(properties) ? properties : {}
}

/** `type` may be one word. */
function listOf(value: unknown): readonly unknown[] | undefined {
  if (value === undefined) return undefined
  return Array.isArray(value) ? (value as readonly unknown[]) : [value]
}

function first<Item>(items: readonly Item[], reasonOf: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const reason = reasonOf(item)
    if (reason !== undefined) return reason
  }
  return undefined
}
