import type { Subjects } from '../../topology/processor.js'
import { addressKey, overflows, platforms, windows } from './tables.js'
import { windowKeys } from './windows.js'

/** Audits ask about a platform, by its name. */
export const subjects: Subjects = {
  relatedRows(platform, get) {
    const addresses = get(platforms, platform)?.addresses ?? []
    return addresses.flatMap(({ id }) => [
      ...windowKeys(addressKey(platform, id)).map((key) => ({ table: windows, key })),
      { table: overflows, key: addressKey(platform, id) },
    ])
  },
  state(platform, get) {
    const row = get(platforms, platform)
    if (row === undefined) return null
    return Object.fromEntries(row.addresses.map(({ address, state }) => [address, state.toLowerCase()]))
  },
}
