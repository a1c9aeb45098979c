import { cut } from '../../common/errors.js'
import type { Condition, RegistryLeaf } from '../../processors/trust-level/views.js'
import { ApiError } from '../errors.js'

/**
 * The documented subset of cps paths over the registry of cm handles:
 * `//` or `/dmi-registry/` , then `cm-handles`, `state`, `public-properties`, `lock-reason` or `additional-properties` (each
 * child also below `cm-handles`), each with predicates `[@leaf='value' and ...]` or `[@leaf='a' or @leaf='b']`, and at
 * the end optionally `/ancestor::cm-handles`. Whatever matches, the handle is the answer. (trust levels, section 2)
 */

const SUPPORTED =
  'supported: //cm-handles, //state, //public-properties, or the same below /dmi-registry/cm-handles, with predicates ' +
  "[@leaf='value'], joined by `and`, or by `or` for one leaf, and /ancestor::cm-handles at the end"

interface Predicate {
  readonly leaf: string
  readonly values: readonly string[]
}

interface Step {
  readonly node: string
  readonly predicates: readonly Predicate[]
}

const CM_HANDLE_LEAVES: Readonly<Record<string, RegistryLeaf>> = {
  id: 'id',
  'dmi-service-name': 'dmi-service-name',
  'dmi-data-service-name': 'dmi-data-service-name',
  'dmi-model-service-name': 'dmi-model-service-name',
  'module-set-tag': 'module-set-tag',
  'alternate-id': 'alternate-id',
  'data-producer-identifier': 'data-producer-identifier',
  'cm-handle-state': 'state/cm-handle-state',
}

const STATE_LEAVES: Readonly<Record<string, RegistryLeaf>> = {
  'cm-handle-state': 'state/cm-handle-state',
  'last-update-time': 'state/last-update-time',
  'data-sync-enabled': 'state/data-sync-enabled',
}

/** The conditions that the path stands for. Errors: QUERY_INVALID, naming what is supported. */
export function parseCpsPath(path: string): readonly Condition[] {
  const steps = readSteps(path)
  const last = steps.at(-1)
  if (last?.node === 'ancestor::cm-handles' && last.predicates.length === 0) steps.pop()
  const [first, second, third, ...rest] = steps
  if (first === undefined || rest.length > 0) throw unsupported(path)
  if (first.node !== 'cm-handles') {
    if (second !== undefined) throw unsupported(path)
    return childConditions(first, path)
  }
  const own = first.predicates.map((predicate) => leafCondition(CM_HANDLE_LEAVES, predicate, path))
  if (second === undefined) return own
  if (second.node === 'state' && third?.node === 'lock-reason') return [...own, NOTHING]
  if (third !== undefined) throw unsupported(path)
  return [...own, ...childConditions(second, path)]
}

const NOTHING: Condition = { kind: 'nothing' }

function childConditions(step: Step, path: string): readonly Condition[] {
  switch (step.node) {
    case 'state':
      return step.predicates.map((predicate) => leafCondition(STATE_LEAVES, predicate, path))
    case 'public-properties':
      return [publicProperty(step.predicates, path)]
    // No handle here is ever locked, and additional properties are not searchable.
    case 'lock-reason':
    case 'additional-properties':
      return [NOTHING]
    default:
      throw unsupported(path)
  }
}

function publicProperty(predicates: readonly Predicate[], path: string): Condition {
  const byLeaf = new Map<string, string>()
  for (const { leaf, values } of predicates) {
    const [value] = values
    if (value === undefined || values.length > 1 || byLeaf.has(leaf)) throw unsupported(path)
    byLeaf.set(leaf, value)
  }
  const name = byLeaf.get('name')
  const value = byLeaf.get('value') ?? null
  if (name === undefined || byLeaf.size !== (value === null ? 1 : 2)) throw unsupported(path)
  return { kind: 'publicProperty', name, value }
}

function leafCondition(leaves: Readonly<Record<string, RegistryLeaf>>, predicate: Predicate, path: string): Condition {
  const leaf = Object.hasOwn(leaves, predicate.leaf) ? leaves[predicate.leaf] : undefined
  if (leaf === undefined) {
    const known = Object.keys(leaves).join(', ')
    throw invalid(path, `the leaf ${cut(predicate.leaf)} is not one of ${known}`)
  }
  return { kind: 'leaf', leaf, values: predicate.values }
}

/** One reader position over the text; every pattern is sticky, so the whole text is read once, without going back. */
class Reader {
  private position = 0
  constructor(readonly text: string) {}

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.position
    const match = pattern.exec(this.text)
    if (match === null) return undefined
    this.position = pattern.lastIndex
    return match[1] ?? match[0]
  }

  need(pattern: RegExp): string {
    const taken = this.take(pattern)
    if (taken === undefined) throw unsupported(this.text)
    return taken
  }

  get isAtEnd(): boolean {
    return this.position === this.text.length
  }
}

function readSteps(path: string): Step[] {
  const reader = new Reader(path.trim())
  if (reader.take(/\/dmi-registry(?=\/[a-z])/y) === undefined) reader.need(/\/(?=\/[a-z])/y)
  else if (!/^\/dmi-registry\/cm-handles(?![a-z-])/.test(reader.text)) throw unsupported(path)
  const steps: Step[] = []
  while (!reader.isAtEnd) {
    const node = reader.need(/\/([a-z-]+(?:::[a-z-]+)?)/y)
    steps.push({ node, predicates: readPredicates(reader) })
  }
  return steps
}

function readPredicates(reader: Reader): readonly Predicate[] {
  const all: Predicate[] = []
  while (reader.take(/\s*\[\s*/y) !== undefined) {
    const predicates = [readPredicate(reader)]
    let joint: string | undefined
    for (;;) {
      const next = reader.take(/\s+(and|or)\s+/y)
      if (next === undefined) break
      if (joint !== undefined && joint !== next) throw unsupported(reader.text)
      joint = next
      predicates.push(readPredicate(reader))
    }
    reader.need(/\s*\]/y)
    all.push(...(joint === 'or' ? [alternatives(predicates, reader.text)] : predicates))
  }
  return all
}

function readPredicate(reader: Reader): Predicate {
  const leaf = reader.need(/@([A-Za-z][A-Za-z0-9_-]*)/y)
  reader.need(/\s*=\s*/y)
  const single = reader.take(/'((?:[^']|'')*)'/y)
  if (single !== undefined) return { leaf, values: [single.replaceAll("''", "'")] }
  return { leaf, values: [reader.need(/"((?:[^"]|"")*)"/y).replaceAll('""', '"')] }
}

function alternatives(predicates: readonly Predicate[], path: string): Predicate {
  const leaf = predicates[0]?.leaf ?? ''
  if (predicates.some((predicate) => predicate.leaf !== leaf)) throw unsupported(path)
  return { leaf, values: predicates.flatMap((predicate) => predicate.values) }
}

function unsupported(path: string): ApiError {
  return invalid(path, SUPPORTED)
}

function invalid(path: string, why: string): ApiError {
  return new ApiError('QUERY_INVALID', `cpsPath ${cut(path, 120)} is not supported; ${why}`)
}
