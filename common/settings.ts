import { resolve } from 'node:path'
import { Ajv } from 'ajv'
import { expectedOf, SettingsError, shownValue } from './settings-faults.js'
import type { SettingsFault, SettingSource } from './settings-faults.js'
import { flagOf, variableOf } from './settings-names.js'
import { settingsRules } from './settings-rules.js'
import { settingNames, settingSpecs, specOf } from './settings-schema.js'
import type { SettingName, Settings } from './settings-schema.js'
import { readEnvironment, readFileSource, readFlags } from './settings-sources.js'
import type { SourceValues } from './settings-sources.js'

export type { Settings, SettingName } from './settings-schema.js'
export { SettingsError, settingsErrors } from './settings-faults.js'

export interface SettingsInput {
  /** Flags, without the program's name. */
  readonly flags?: readonly string[]
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** What relative paths count from; default: the current directory. */
  readonly directory?: string
  /** What the default of `dataDir` counts from; default: as `directory`. */
  readonly projectDirectory?: string
}

export interface LoadedSettings {
  readonly settings: Settings
  /** Where each value comes from. */
  readonly sources: Readonly<Record<SettingName, SettingSource>>
}

const ajv = new Ajv({ allErrors: true, strict: true })
ajv.addVocabulary(['unit', 'secret', 'expected'])
const isValid = ajv.compile({ type: 'object', properties: settingSpecs })

const spellings: Readonly<Record<SettingSource, (name: SettingName) => string>> = {
  default: String,
  file: String,
  environment: variableOf,
  flag: flagOf,
}

/**
 * All settings, from the defaults, the file (`--config` or PULSEFOLD_CONFIG), the environment and the flags; a later
 * source wins. Frozen. Errors: SETTINGS_INVALID, with all faults of all sources, also of values that another overrides.
 */
export function loadSettings(input: SettingsInput = {}): LoadedSettings {
  const directory = input.directory ?? process.cwd()
  const flags = readFlags(input.flags ?? [])
  const environment = input.environment ?? {}
  const file = flags.config ?? (environment.PULSEFOLD_CONFIG || undefined)
  const given = [readEnvironment(environment), flags]
  if (file !== undefined) given.unshift(readFileSource(resolve(directory, file)))
  return assemble(given, directory, input.projectDirectory ?? directory)
}

/** The defaults with some values replaced, checked as all settings are: for tests and tools. Errors: SETTINGS_INVALID. */
export function settingsWith(values: Partial<Settings>): Settings {
  const given = { source: 'file', values: new Map(Object.entries(values)), faults: [] } as unknown as SourceValues
  try {
    return assemble([given], process.cwd(), process.cwd()).settings
  } catch (thrown) {
    if (!(thrown instanceof SettingsError)) throw thrown
    // They come from no source.
    throw new SettingsError(thrown.faults.map(({ source: _source, ...fault }) => fault))
  }
}

function assemble(given: readonly SourceValues[], directory: string, projectDirectory: string): LoadedSettings {
  const values: Record<string, unknown> = Object.fromEntries(settingNames.map((name) => [name, specOf(name).default]))
  const sources: Record<string, SettingSource> = Object.fromEntries(settingNames.map((name) => [name, 'default']))
  for (const source of given) {
    for (const [name, value] of source.values) {
      values[name] = value
      sources[name] = source.source
    }
  }
  const loaded = { settings: values as Settings, sources: sources as Record<SettingName, SettingSource> }
  const faults = given.flatMap((source) => [...source.faults, ...schemaFaults(source)])
  faults.push(...ruleFaults(loaded, faults))
  if (faults.length > 0) throw new SettingsError(faults)
  values.dataDir = resolve(sources.dataDir === 'default' ? projectDirectory : directory, loaded.settings.dataDir)
  for (const value of Object.values(values)) Object.freeze(value)
  return Object.freeze({ settings: Object.freeze(loaded.settings), sources: Object.freeze(loaded.sources) })
}

function schemaFaults({ source, values }: SourceValues): SettingsFault[] {
  if (isValid(Object.fromEntries(values))) return []
  const paths = new Set((isValid.errors ?? []).map((error) => error.instancePath.slice(1)))
  return [...paths].map((path) => {
    const [name, ...rest] = path.split('/') as [SettingName, ...string[]]
    const value = values.get(name)
    const part = rest.length === 0 ? value : (value as readonly unknown[])[Number(rest[0])]
    return {
      path: [spellings[source](name), ...rest].join('/'),
      source,
      value: shownValue(name, part),
      expected: expectedOf(name),
    }
  })
}

function ruleFaults({ settings, sources }: LoadedSettings, faults: readonly SettingsFault[]): SettingsFault[] {
  const wrong = new Set(faults.map((fault) => fault.path.split('/')[0]))
  const isWrong = (name: SettingName): boolean => Object.values(spellings).some((spell) => wrong.has(spell(name)))
  return settingsRules.flatMap(({ names, expected }) => {
    const [blamed] = names
    const text = names.some(isWrong) ? undefined : expected(settings)
    if (text === undefined) return []
    const source = sources[blamed]
    return [{ path: spellings[source](blamed), source, value: shownValue(blamed, settings[blamed]), expected: text }]
  })
}
