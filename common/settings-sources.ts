import { readFileSync } from 'node:fs'
import { cut } from './errors.js'
import { expectedOf, shownValue } from './settings-faults.js'
import type { SettingsFault, SettingSource } from './settings-faults.js'
import { flagOf, nearest, variableOf } from './settings-names.js'
import { isSettingName, settingNames, specOf } from './settings-schema.js'
import type { SettingName } from './settings-schema.js'

/** What one source says, by setting; not yet checked against the schema. */
export interface SourceValues {
  readonly source: SettingSource
  readonly values: ReadonlyMap<SettingName, unknown>
  readonly faults: readonly SettingsFault[]
}

/** The flags as settings, and the path of the configuration file if they name one. */
export interface FlagValues extends SourceValues {
  readonly config: string | undefined
}

/** Reads a JSON file with an object of settings. Unknown names are faults. */
export function readFileSource(path: string): SourceValues {
  const values = new Map<SettingName, unknown>()
  const faults: SettingsFault[] = []
  const source = 'file'
  const content = parseFile(path)
  if (typeof content === 'string')
    return { source, values, faults: [{ path: cut(path, 300), source, expected: content }] }
  for (const [name, value] of Object.entries(content)) {
    if (isSettingName(name)) values.set(name, value)
    else faults.push(unknownName(cut(name), source, nearest(name, String)))
  }
  return { source, values, faults }
}

function parseFile(path: string): object | string {
  try {
    const content: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return typeof content === 'object' && content !== null && !Array.isArray(content)
      ? content
      : `a JSON object of settings`
  } catch (error) {
    const reason = error instanceof Error ? cut(error.message, 200) : ''
    return `a readable file with a JSON object of settings (${reason})`
  }
}

/** What `./scripts/services` and the tests are told; a shell may export it and start Pulsefold as well. */
const toolVariables: ReadonlySet<string> = new Set([
  'PULSEFOLD_SERVICES_DIR',
  'PULSEFOLD_KAFKA_PORT',
  'PULSEFOLD_KAFKA_HEAP',
  'PULSEFOLD_REGISTRY_PORT',
  'PULSEFOLD_TEST_KILLS',
])

/** Reads the `PULSEFOLD_` variables. Unknown ones are faults, but not those of tools, or that Kubernetes makes for services. */
export function readEnvironment(environment: Readonly<Record<string, string | undefined>>): SourceValues {
  const values = new Map<SettingName, unknown>()
  const faults: SettingsFault[] = []
  const source = 'environment'
  const names = new Map(settingNames.map((name) => [variableOf(name), name]))
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith('PULSEFOLD_') || text === undefined || variable === 'PULSEFOLD_CONFIG') continue
    const name = names.get(variable)
    if (name !== undefined) take(values, faults, source, name, variable, text)
    else if (!toolVariables.has(variable) && !isServiceLink(variable, text))
      faults.push(unknownName(variable, source, nearest(variable, variableOf)))
  }
  return { source, values, faults }
}

/** A service whose name begins with `pulsefold` appears in the environment of every pod of its namespace. */
function isServiceLink(variable: string, value: string): boolean {
  return (
    /_SERVICE_(HOST|PORT(_\w+)?)$/.test(variable) ||
    /_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(variable) ||
    (variable.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value))
  )
}

/** Reads `--name value` and `--name=value`; of yes-or-no settings `--name` alone is true. */
export function readFlags(flags: readonly string[]): FlagValues {
  const values = new Map<SettingName, unknown>()
  const faults: SettingsFault[] = []
  const source = 'flag'
  const names = new Map(settingNames.map((name) => [flagOf(name), name]))
  let config: string | undefined
  for (let index = 0; index < flags.length; index += 1) {
    const argument = flags[index] ?? ''
    const equals = argument.indexOf('=')
    const flag = equals < 0 ? argument : argument.slice(0, equals)
    const name = names.get(flag)
    if (name === undefined && flag !== '--config') {
      faults.push(unknownName(cut(flag), source, flag.startsWith('-') ? nearest(flag, flagOf) : undefined))
      // Its value, if it has one, is not a fault of its own.
      if (equals < 0 && flag.startsWith('--') && flags[index + 1]?.startsWith('--') === false) index += 1
      continue
    }
    const following = flags[index + 1]
    const isBoolean = name !== undefined && specOf(name).type === 'boolean'
    let text: string | undefined
    if (equals >= 0) text = argument.slice(equals + 1)
    else if (isBoolean && following !== 'true' && following !== 'false') text = 'true'
    else if (following !== undefined && !following.startsWith('--')) {
      text = following
      index += 1
    }
    if (text === undefined || (name === undefined && text === '')) {
      faults.push({ path: flag, source, expected: name === undefined ? 'the path of a file' : expectedOf(name) })
    } else if (name === undefined) config = text
    else take(values, faults, source, name, flag, text)
  }
  return { source, values, faults, config }
}

/** Text to the setting's type. What is not even that is a fault here, the rest is for the schema. */
function take(
  values: Map<SettingName, unknown>,
  faults: SettingsFault[],
  source: SettingSource,
  name: SettingName,
  path: string,
  text: string,
): void {
  const value = convert(name, text)
  if (value === undefined) faults.push({ path, source, value: shownValue(name, text), expected: expectedOf(name) })
  else values.set(name, value)
}

function convert(name: SettingName, text: string): unknown {
  const trimmed = text.trim()
  switch (specOf(name).type) {
    case 'integer':
      return /^-?\d{1,16}$/.test(trimmed) ? Number(trimmed) : undefined
    case 'boolean':
      return trimmed === 'true' ? true : trimmed === 'false' ? false : undefined
    case 'array':
      return trimmed === '' ? [] : trimmed.split(',').map((item) => item.trim())
    case 'string':
      return text
  }
}

function unknownName(path: string, source: SettingSource, meant: string | undefined): SettingsFault {
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  return { path, source, expected: `the name of a setting${hint}` }
}
