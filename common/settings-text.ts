import { cut } from './errors.js'
import { flagOf, variableOf } from './settings-names.js'
import { expectedOf } from './settings-faults.js'
import type { LoadedSettings } from './settings.js'
import { settingNames, specOf } from './settings-schema.js'
import type { SettingName, Settings } from './settings-schema.js'

/** One line a setting: name, value, source. Secrets that are set show as `***`. */
export function printSettings({ settings, sources }: LoadedSettings): string {
  const width = Math.max(...settingNames.map((name) => name.length))
  return settingNames
    .map((name) => {
      const value = isHidden(settings, name) ? '***' : cut(settings[name], 500)
      return `${name.padEnd(width)}  ${value}  (${sources[name]})`
    })
    .join('\n')
}

/** The settings as they may be logged: secrets that are set are `***`. */
export function maskedSettings(settings: Settings): Readonly<Record<string, unknown>> {
  return Object.fromEntries(settingNames.map((name) => [name, isHidden(settings, name) ? '***' : settings[name]]))
}

/** The settings as flags, for a help text. */
export function describeFlags(): string {
  return settingNames
    .map((name) => `  ${flagOf(name)}\n      ${specOf(name).description} Default: ${shownDefault(name)}`)
    .join('\n')
}

/** The README's table. */
export function settingsTable(): string {
  const rows = settingNames.map((name) => {
    const { description, unit } = specOf(name)
    const value = `\`${shownDefault(name)}\`${unit === undefined ? '' : ` ${unit}`}`
    return `| \`${name}\`<br>\`${variableOf(name)}\`<br>\`${flagOf(name)}\` | ${value} | ${escape(description)} | ${escape(expectedOf(name))} |`
  })
  return ['| setting | default | meaning | a right value is |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function isHidden(settings: Settings, name: SettingName): boolean {
  return specOf(name).secret === true && settings[name] !== ''
}

function shownDefault(name: SettingName): string {
  const value = specOf(name).default
  if (Array.isArray(value)) return value.length === 0 ? '""' : value.join(',')
  return value === '' ? '""' : String(value)
}

function escape(text: string): string {
  return text.replaceAll('|', '\\|')
}
