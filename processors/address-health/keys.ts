import { SEPARATOR } from './tables.js'
import type { AddressRow } from './tables.js'

/** Keys of the rows that belong to an address. */
export interface AddressKeys {
  readonly windows: readonly [first: string, second: string]
  readonly overflow: string
}

const keys = new WeakMap<AddressRow, AddressKeys>()

/** Made once for each row: every call needs them, and to put a key together costs more than to fold the call. */
export function addressKeys(platform: string, address: AddressRow): AddressKeys {
  const known = keys.get(address)
  if (known !== undefined) return known
  const overflow = platform + SEPARATOR + String(address.id)
  const made: AddressKeys = { windows: [`${overflow}${SEPARATOR}0`, `${overflow}${SEPARATOR}1`], overflow }
  keys.set(address, made)
  return made
}
