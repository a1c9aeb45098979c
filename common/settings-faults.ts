import { cut, PulsefoldError } from './errors.js'
import type { ErrorTable } from './errors.js'
import { specOf } from './settings-schema.js'
import type { SettingSpec } from './settings/spec.js'
import type { SettingName } from './settings-schema.js'

/** Where a value comes from; a later one wins. */
export type SettingSource = 'default' | 'file' | 'environment' | 'flag'

/** One thing that is wrong, in the spelling of its source. */
export interface SettingsFault {
  /** `httpPort`, `PULSEFOLD_HTTP_PORT` or `--http-port`; of a list also the index: `dmiHealthPaths/1`. */
  readonly path: string
  /** Absent where the value is looked at later than it was read. */
  readonly source?: SettingSource
  /** Cut, and masked where secret; absent when there is none. */
  readonly value?: string
  readonly expected: string
}

export const settingsErrors = {
  SETTINGS_INVALID: { action: 'Correct the settings that the message names; all of them are named at once.' },
} as const satisfies ErrorTable

/** All faults of the settings, also as `faults`. */
export class SettingsError extends PulsefoldError<keyof typeof settingsErrors> {
  readonly faults: readonly SettingsFault[]

  constructor(faults: readonly SettingsFault[]) {
    const count = faults.length === 1 ? 'one fault' : `${faults.length} faults`
    super(settingsErrors, 'SETTINGS_INVALID', `the settings have ${count}: ${faults.map(describeFault).join('; ')}`, {
      details: { faults },
    })
    this.faults = faults
  }
}

/** One line without line breaks. */
export function describeFault(fault: SettingsFault): string {
  const is = fault.value === undefined ? '' : ` is ${fault.value},`
  const source = fault.source === undefined ? '' : ` (${fault.source})`
  return `${fault.path}${source}${is} expected: ${fault.expected}`
}

/** What a right value of the setting is, in words. */
export function expectedOf(name: SettingName): string {
  const spec: SettingSpec = specOf(name)
  if (spec.expected !== undefined) return spec.expected
  switch (spec.type) {
    case 'integer':
      return `a whole number from ${spec.minimum} to ${spec.maximum}${spec.unit === undefined ? '' : ` (${spec.unit})`}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return 'texts separated by commas'
    case 'string':
      return spec.enum === undefined ? 'a text' : `one of ${spec.enum.join(', ')}`
  }
}

/** A setting's value for people: cut, secrets masked. */
export function shownValue(name: SettingName, value: unknown): string {
  return specOf(name).secret === true ? '***' : cut(value)
}
