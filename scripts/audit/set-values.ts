import { updatedPlatform } from '../../api/external-platforms/platform-body.js'
import { isSettingName } from '../../common/settings-schema.js'
import { settingsWith } from '../../common/settings.js'
import type { Settings } from '../../common/settings.js'
import type { SettingValues, Values } from '../../topology/audit/other-settings.js'
import { declaredProcessors } from '../process/declared-processors.js'

/** Settings that folds know by another name. */
const settingOf: Readonly<Record<string, string>> = { globalRicMcc: 'ricMcc', globalRicMnc: 'ricMnc' }

/**
 * What folds would read of settings if the service were started with some in place of those in force; what is not told in a journal
 * is as in `settings`. Errors: SETTINGS_INVALID, as at a start.
 */
export function settingValues(settings: Settings): SettingValues {
  return ({ name: domain }, inForce, set) => {
    const started = settingsWith({ ...settings, ...settingsOf(inForce), ...settingsOf(set) })
    const derived = (declaredProcessors(started).find(({ name }) => name === domain)?.settings ?? {}) as Values
    const isTold = (name: string): boolean => isSettingName(settingOf[name] ?? name)
    return { ...set, ...Object.fromEntries(Object.entries(derived).filter(([name]) => name in set && isTold(name))) }
  }
}

/** Those that are parameters of platforms, as an update of one takes them. Errors: BODY_INVALID. */
export function parameterValues(set: Values): Values {
  const { platform: _platform, ...parameters } = updatedPlatform('', set)
  return Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== null))
}

function settingsOf(values: Values): Partial<Settings> {
  const named = Object.entries(values).map(([name, value]) => [settingOf[name] ?? name, value] as const)
  return Object.fromEntries(named.filter(([name]) => isSettingName(name)))
}
