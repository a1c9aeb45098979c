import type { AddressPlace, PlatformView } from '../../processors/address-health/index.js'
import { isoTime } from '../ncmp/shapes.js'

/** A platform as the vendor's `dumpexternalplatform` shows it, and more. (address health, section 5) */
export function platformJson({ addresses, ...parameters }: PlatformView): object {
  return {
    ...parameters,
    addresses: addresses.map(({ position, address, state, since, window, retry }) => ({
      position,
      address,
      state: state.toLowerCase(),
      since: isoTime(since),
      window,
      retry: { successes: retry.successes, nextAt: retry.nextAt === null ? null : isoTime(retry.nextAt) },
    })),
  }
}

export function placeJson({ address, position }: AddressPlace): AddressPlace {
  return { address, position }
}
