import { settingNames } from './settings-schema.js'
import type { SettingName } from './settings-schema.js'

/** `dmiHealthIntervalMs` as `PULSEFOLD_DMI_HEALTH_INTERVAL_MS`. */
export function variableOf(name: string): string {
  return `PULSEFOLD_${words(name).join('_').toUpperCase()}`
}

/** `dmiHealthIntervalMs` as `--dmi-health-interval-ms`. */
export function flagOf(name: string): string {
  return `--${words(name).join('-')}`
}

function words(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase())
}

/** The setting whose spelling (by `spell`) is nearest to an unknown one, when it is near enough to be meant. */
export function nearest(unknown: string, spell: (name: SettingName) => string): string | undefined {
  // A name written in another source's spelling is what is meant, whatever the distance of the texts.
  const letters = plain(unknown)
  const candidates = settingNames.map((name) => ({
    spelling: spell(name),
    distance: Math.min(distance(plain(name), letters), distance(plain(spell(name)), letters)),
  }))
  const best = candidates.reduce((a, b) => (b.distance < a.distance ? b : a))
  return best.distance <= Math.max(2, Math.floor(letters.length / 4)) ? best.spelling : undefined
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Levenshtein's distance; texts are cut, as they come from outside. */
function distance(left: string, right: string): number {
  const [a, b] = [left.slice(0, 64), right.slice(0, 64)]
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
