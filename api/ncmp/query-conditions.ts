import { normalisePluginAddress } from '../../common/plugin-address.js'
import type { PluginAddressPolicy } from '../../common/plugin-address.js'
import type { Condition, RegistryLeaf } from '../../processors/trust-level/views.js'
import { TRUST_LEVELS } from '../../schemas/trust-level/journal-events.js'
import { ApiError } from '../errors.js'
import { parseCpsPath } from './cps-path.js'
import { isObject, scalarText, shown } from './json-values.js'

export type Side = 'north' | 'south'

const NORTH = ['hasAllModules', 'hasAllProperties', 'cmHandleWithCpsPath', 'cmHandleWithTrustLevel'] as const
const SOUTH = [...NORTH, 'hasAllAdditionalProperties', 'cmHandleWithDmiPlugin'] as const
type ConditionName = (typeof SOUTH)[number]

const PLUGIN_LEAVES: readonly RegistryLeaf[] = ['dmi-service-name', 'dmi-data-service-name', 'dmi-model-service-name']

type Parameters = readonly (readonly [name: string, value: unknown])[]

export interface ConditionRules {
  readonly side: Side
  /** Object searches also take the deprecated `conditions`, where the new list is empty. */
  readonly deprecatedConditions: boolean
  readonly pluginAddressPolicy: PluginAddressPolicy
}

/**
 * The conditions of a search's body, checked in upstream's order with its texts. An empty list means every handle; of one
 * condition given twice only the first counts. Errors: BODY_MALFORMED, QUERY_INVALID. (trust levels, section 2)
 */
export function parseConditions(body: unknown, rules: ConditionRules): readonly Condition[] {
  if (!isObject(body)) throw new ApiError('BODY_MALFORMED', 'the body is not an object')
  const listed = listOf(body['cmHandleQueryParameters'], 'cmHandleQueryParameters')
  if (listed.length === 0 && rules.deprecatedConditions) refuseDeprecated(listOf(body['conditions'], 'conditions'))
  const byName = new Map<ConditionName, Parameters>()
  for (const entry of listed) {
    const [name, parameters] = checkedCondition(entry, rules.side)
    if (!byName.has(name)) byName.set(name, parameters)
  }
  return [...byName].flatMap(([name, parameters]) => conditionsOf(name, parameters, rules))
}

function checkedCondition(entry: unknown, side: Side): [ConditionName, Parameters] {
  if (!isObject(entry)) throw new ApiError('BODY_MALFORMED', 'an entry of cmHandleQueryParameters is not an object')
  const given = entry['conditionName']
  const name = (side === 'north' ? NORTH : SOUTH).find((known) => known === given)
  if (name === undefined) {
    const missing = given === undefined || given === null || given === ''
    throw invalid(
      missing
        ? "Missing 'conditionName' - please supply a valid name."
        : `Wrong 'conditionName': ${shown(given)} - please supply a valid name.`,
    )
  }
  const parameters = listOf(entry['conditionParameters'], 'conditionParameters')
  if (parameters.length === 0) {
    throw invalid("Empty 'conditionsParameters' - please supply a valid condition parameter.")
  }
  return [name, parameters.map(checkedParameter)]
}

function checkedParameter(parameter: unknown): readonly [string, unknown] {
  if (!isObject(parameter)) throw new ApiError('BODY_MALFORMED', 'an entry of conditionParameters is not an object')
  const [pair, ...others] = Object.entries(parameter)
  if (pair === undefined) throw invalid("Empty 'conditionsParameter' - please supply a valid condition parameter.")
  if (others.length > 0) {
    throw invalid("Too many names in one 'conditionsParameter' - please supply one name in one condition parameter.")
  }
  if (pair[0] === '') throw invalid("Missing 'conditionsParameterName' - please supply a valid name.")
  return pair
}

function conditionsOf(name: ConditionName, parameters: Parameters, rules: ConditionRules): readonly Condition[] {
  switch (name) {
    case 'hasAllModules':
      throw moduleSearchRefused(parameters)
    case 'hasAllProperties':
      return [{ kind: 'publicProperties', properties: propertiesOf(parameters) }]
    case 'hasAllAdditionalProperties':
      return [{ kind: 'additionalProperties', properties: propertiesOf(parameters) }]
    case 'cmHandleWithCpsPath':
      return parseCpsPath(cpsPathOf(parameters)).map((condition) =>
        condition.kind === 'leaf' && PLUGIN_LEAVES.includes(condition.leaf)
          ? { ...condition, values: condition.values.map((name) => storedPluginName(name, rules.pluginAddressPolicy)) }
          : condition,
      )
    case 'cmHandleWithDmiPlugin':
      return [{ kind: 'dmiPlugin', name: dmiPluginOf(parameters, rules.pluginAddressPolicy) }]
    case 'cmHandleWithTrustLevel':
      return [{ kind: 'trustLevel', level: trustLevelOf(parameters) }]
  }
}

/** Of one name given twice the last value counts. */
function propertiesOf(parameters: Parameters): readonly (readonly [string, string])[] {
  const values = new Map<string, string>()
  for (const [name, value] of parameters) values.set(name, textOf(value))
  return [...values]
}

function cpsPathOf(parameters: Parameters): string {
  const [name, value] = parameters[0] ?? []
  if (parameters.length > 1) throw invalid('Only one condition property is allowed for the CPS path query.')
  if (name !== 'cpsPath') {
    throw invalid('Wrong CPS path condition property. - expecting "cpsPath" as the condition property.')
  }
  const path = textOf(value)
  if (path.trim() === '') throw invalid('Wrong CPS path. - please supply a valid CPS path.')
  return path
}

/** Plugins are kept by their one normalised address, so they are asked for by it too. */
export function storedPluginName(name: string, policy: PluginAddressPolicy): string {
  const normalised = normalisePluginAddress(name, policy)
  return normalised.ok ? normalised.address : name
}

function dmiPluginOf(parameters: Parameters, policy: PluginAddressPolicy): string {
  const [name, value] = parameters[0] ?? []
  if (parameters.length > 1 || name !== 'dmiPluginName') {
    throw invalid('Wrong DMI plugin condition property. - expecting one "dmiPluginName" as the condition property.')
  }
  return storedPluginName(textOf(value), policy)
}

/** As upstream the name is not looked at; another word than a level is refused here, and a second value too. */
function trustLevelOf(parameters: Parameters): (typeof TRUST_LEVELS)[number] {
  const value = parameters[0]?.[1]
  if (parameters.length > 1) throw invalid('Only one condition property is allowed for the trust level query.')
  const level = TRUST_LEVELS.find((known) => known === value)
  if (level === undefined) {
    throw invalid(`Wrong trust level: ${shown(value)} - expecting one of ${TRUST_LEVELS.join(', ')}.`)
  }
  return level
}

function moduleSearchRefused(parameters: Parameters): ApiError {
  const isWellFormed = parameters.every(([name, value]) => name === 'moduleName' && value !== '' && value !== null)
  return invalid(
    isWellFormed
      ? "Condition 'hasAllModules' is not supported: no module data is held here."
      : 'Wrong module condition property. - please supply a valid condition property.',
  )
}

function refuseDeprecated(conditions: readonly unknown[]): void {
  const [first] = conditions
  if (first === undefined) return
  const name = isObject(first) ? first['name'] : undefined
  throw name === 'hasAllModules'
    ? invalid("Condition 'hasAllModules' is not supported: no module data is held here.")
    : invalid(`Wrong 'conditionName': ${shown(name)} - please supply a valid name.`)
}

function listOf(value: unknown, member: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new ApiError('BODY_MALFORMED', `${member} is not a list`)
  return value
}

function textOf(value: unknown): string {
  const text = scalarText(value)
  if (text === undefined) throw invalid(`Wrong 'conditionsParameter' value: ${shown(value)} - please supply a text.`)
  return text
}

function invalid(message: string): ApiError {
  return new ApiError('QUERY_INVALID', message)
}
