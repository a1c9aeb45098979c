import type { Query } from '../../../topology/processor.js'
import { pluginHomes, pluginUse } from '../tables.js'
import type { DmiPluginsPage } from '../views.js'

/** The plugins at home in a partition, and how many handles it has of any. */
export const dmiPluginsQuery: Query<Record<string, never>, DmiPluginsPage> = {
  name: 'dmi-plugins',
  run(reader) {
    const plugins = Array.from(reader.resident(pluginHomes), ([plugin, home]) => ({
      plugin,
      trustLevel: home.level,
      since: home.since,
      lastCheck: home.lastCheck,
      healthPath: home.healthPath,
      reason: home.reason,
    }))
    const cmHandles = Array.from(reader.resident(pluginUse), ([plugin, { handles }]) => [plugin, handles] as const)
    return Promise.resolve({ plugins, cmHandles: Object.fromEntries(cmHandles) })
  },
}
