import type { TrustLevel } from '../../schemas/trust-level/journal-events.js'
import type { SimulatedDevice } from './plan.js'

/** What Pulsefold must answer, by what it was told and saw. */
export interface Expectation {
  reported(device: number, trustLevel: TrustLevel): void
  pluginIs(plugin: number, trustLevel: TrustLevel): void
  /** What the device last said of itself; COMPLETE from its registration on. */
  ownLevel(device: number): TrustLevel
  /** The lower of the device's and its plugin's. (trust levels, section 0) */
  trustLevel(device: number): TrustLevel
}

export function expectationOf(devices: readonly SimulatedDevice[]): Expectation {
  const failing = new Set<number>()
  const down = new Set<number>()
  const mark = (set: Set<number>, index: number, level: TrustLevel): void => {
    if (level === 'NONE') set.add(index)
    else set.delete(index)
  }
  const ownLevel = (device: number): TrustLevel => (failing.has(device) ? 'NONE' : 'COMPLETE')
  return {
    reported: (device, level) => mark(failing, device, level),
    pluginIs: (plugin, level) => mark(down, plugin, level),
    ownLevel,
    trustLevel(device) {
      const plugin = devices[device]?.plugin
      return plugin !== undefined && down.has(plugin) ? 'NONE' : ownLevel(device)
    },
  }
}
