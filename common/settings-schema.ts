import { addressHealthSettings } from './settings/address-health.js'
import { engineSettings } from './settings/engine.js'
import { kafkaSettings } from './settings/kafka.js'
import { keepAliveSettings } from './settings/keep-alive.js'
import { serviceSettings } from './settings/service.js'
import { sitesSettings } from './settings/sites.js'
import { trustLevelSettings } from './settings/trust-level.js'
import type { SettingSpec } from './settings/spec.js'

/** The one table of all settings: from it come types, checks, the three spellings, the printout and the README's table. */
export const settingSpecs = {
  ...serviceSettings,
  ...kafkaSettings,
  ...engineSettings,
  ...trustLevelSettings,
  ...sitesSettings,
  ...keepAliveSettings,
  ...addressHealthSettings,
} as const satisfies Readonly<Record<string, SettingSpec>>

export type SettingName = keyof typeof settingSpecs

type ValueOf<Spec> = Spec extends { type: 'integer' }
  ? number
  : Spec extends { type: 'boolean' }
    ? boolean
    : Spec extends { type: 'array' }
      ? readonly string[]
      : Spec extends { enum: readonly (infer Word)[] }
        ? Word
        : string

/** All settings with their values: complete, checked, frozen. Durations in ms, sizes in bytes; an empty text: none. */
export type Settings = { readonly [Name in SettingName]: ValueOf<(typeof settingSpecs)[Name]> }

export const settingNames = Object.keys(settingSpecs) as readonly SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settingSpecs, name)
}

export function specOf(name: SettingName): SettingSpec {
  return settingSpecs[name]
}
