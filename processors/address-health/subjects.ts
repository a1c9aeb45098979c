import type { Subjects } from '../../topology/processor.js'
import { addressKeys } from './keys.js'
import { overflows, platforms, windows } from './tables.js'

/** Audits ask about a platform, by its name. */
export const subjects: Subjects = {
  relatedRows(platform, get) {
    const addresses = get(platforms, platform)?.addresses ?? []
    return addresses.flatMap((address) => {
      const keys = addressKeys(platform, address)
      return [...keys.windows.map((key) => ({ table: windows, key })), { table: overflows, key: keys.overflow }]
    })
  },
  state(platform, get) {
    const row = get(platforms, platform)
    if (row === undefined) return null
    return Object.fromEntries(row.addresses.map(({ address, state }) => [address, state.toLowerCase()]))
  },
}
