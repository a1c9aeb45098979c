import type { Context } from './context.js'
import { tellPlatformAlarm } from './alarms.js'
import { platforms } from './tables.js'
import type { AddressRow, PlatformRow } from './tables.js'

/** A platform while an event is folded: what changes is put once, at the end. */
export interface OpenPlatform {
  readonly name: string
  row: PlatformRow
  /** As it was before the event; undefined: it is new. */
  readonly before: PlatformRow | undefined
}

export function openPlatform(name: string, context: Context): OpenPlatform | undefined {
  const row = context.get(platforms, name)
  return row === undefined ? undefined : { name, row, before: row }
}

/** Puts what has changed, and raises or clears the platform's own alarm. */
export function closePlatform(platform: OpenPlatform, context: Context): void {
  if (platform.row === platform.before) return
  const lacksAddress = hasNoAddress(platform.row)
  if (lacksAddress !== (platform.row.noAddressSince !== 0)) {
    const since = platform.row.noAddressSince
    platform.row = { ...platform.row, noAddressSince: lacksAddress ? context.time : 0 }
    tellPlatformAlarm(platform.name, lacksAddress ? 'raised' : 'cleared', lacksAddress ? context.time : since, context)
  }
  context.put(platforms, platform.name, platform.row)
}

export function changeAddress(platform: OpenPlatform, position: number, change: Partial<AddressRow>): AddressRow {
  const changed = { ...addressAt(platform, position), ...change }
  platform.row = { ...platform.row, addresses: platform.row.addresses.with(position, changed) }
  return changed
}

/** The address at a position that is known to be there. */
export function addressAt(platform: OpenPlatform, position: number): AddressRow {
  const address = platform.row.addresses[position]
  if (address === undefined) throw new RangeError(`${platform.name} has no position ${position}`)
  return address
}

/** No address is ACTIVE, and one is FAILED. (address health, section 5) */
function hasNoAddress({ addresses }: PlatformRow): boolean {
  return addresses.some(({ state }) => state === 'FAILED') && !addresses.some(({ state }) => state === 'ACTIVE')
}
