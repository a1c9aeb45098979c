import type {
  AddressAdded,
  AddressOperated,
  AddressOperation,
  PlatformCreated,
  PlatformDeleted,
  PlatformParameters,
  PlatformUpdated,
  NewAddress,
} from '../../schemas/address-health/journal-events.js'
import { cut } from '../../common/errors.js'
import type { Context } from './context.js'
import { mayMove, moveAddress } from './moves.js'
import type { Move } from './moves.js'
import { changeAddress, closePlatform, openPlatform } from './open-platform.js'
import type { OpenPlatform } from './open-platform.js'
import { settlePlatform } from './settle.js'
import { platforms } from './tables.js'
import type { AddressRow } from './tables.js'
import { platformView } from './views.js'
import type { PlatformView } from './views.js'
import { endWindow, forgetWindows } from './windows.js'

/** Addresses of one platform; all of it is one row. */
export const ADDRESS_LIMIT = 256

export type PlatformRefusal =
  | 'PLATFORM_EXISTS'
  | 'PLATFORM_NOT_FOUND'
  | 'PLATFORM_FULL'
  | 'ADDRESS_NOT_FOUND'
  | 'ADDRESS_EXISTS'
  | 'ADDRESS_MOVED'
  | 'INVALID_STATE'
  | 'POSITION_INVALID'

/** Answer of an operator's command: the platform as it is then, or why nothing was changed. */
export type PlatformAnswer =
  | { readonly ok: true; readonly platform: PlatformView }
  | { readonly ok: false; readonly code: PlatformRefusal; readonly message: string }

export function platformCreated({ platform: name, addresses, ...parameters }: PlatformCreated, context: Context): void {
  if (context.get(platforms, name) !== undefined) {
    refuse(context, 'PLATFORM_EXISTS', `there is a platform ${cut(name)} already`)
    return
  }
  const platform: OpenPlatform = {
    name,
    row: {
      ...parametersOf(parameters),
      addresses: addresses.map((address, index) => newAddress(address, index + 1, context)),
      nextAddressId: addresses.length + 1,
      noAddressSince: 0,
    },
    before: undefined,
  }
  finish(platform, context)
}

export function platformUpdated({ platform: name, ...changes }: PlatformUpdated, context: Context): void {
  const platform = settled(name, context)
  if (platform === undefined) return
  const before = platform.row
  platform.row = { ...before, ...parametersOf({ ...before, ...withoutNulls(changes) }) }
  if (platform.row.detectInterval !== before.detectInterval) {
    // The open windows end unjudged, and new ones begin now. (address health, section 3, rows 10 and 11)
    for (const [position, address] of before.addresses.entries()) {
      if (address.state !== 'ACTIVE') continue
      endWindow(platform, address, context)
      changeAddress(platform, position, { windowsFrom: context.time })
    }
  }
  finish(platform, context)
}

export function platformDeleted({ platform: name }: PlatformDeleted, context: Context): void {
  const platform = settled(name, context)
  if (platform === undefined) return
  const view = platformView(name, platform.row, context.time, context)
  for (const position of platform.row.addresses.keys()) removeAddress(platform, position, context)
  platform.row = { ...platform.row, addresses: [] }
  closePlatform(platform, context)
  context.delete(platforms, name)
  context.answer({ ok: true, platform: view } satisfies PlatformAnswer)
}

export function addressAdded({ platform: name, position, ...added }: AddressAdded, context: Context): void {
  const platform = settled(name, context)
  if (platform === undefined) return
  const { addresses, nextAddressId } = platform.row
  const at = position ?? addresses.length
  if (addresses.some(({ address }) => address === added.address)) {
    refuse(context, 'ADDRESS_EXISTS', `the platform has address ${cut(added.address)} already`, platform)
  } else if (addresses.length >= ADDRESS_LIMIT) {
    refuse(context, 'PLATFORM_FULL', `a platform has at most ${ADDRESS_LIMIT} addresses`, platform)
  } else if (at > addresses.length) {
    refuse(context, 'POSITION_INVALID', `position ${at} is beyond the end, ${addresses.length}`, platform)
  } else {
    platform.row = {
      ...platform.row,
      addresses: addresses.toSpliced(at, 0, newAddress(added, nextAddressId, context)),
      nextAddressId: nextAddressId + 1,
    }
    finish(platform, context)
  }
}

const movesOf: Readonly<Record<AddressOperation, Move>> = {
  activate: 'ACTIVATED',
  deactivate: 'DEACTIVATED',
  repair: 'MANUAL_REPAIR',
  remove: 'REMOVED',
}

export function addressOperated(event: AddressOperated, context: Context): void {
  const { platform: name, position, operation, expected } = event
  const platform = settled(name, context)
  if (platform === undefined) return
  const address = platform.row.addresses[position]
  if (address === undefined) {
    refuse(context, 'ADDRESS_NOT_FOUND', `the platform has no position ${position}`, platform)
  } else if (expected !== null && expected !== address.address) {
    refuse(context, 'ADDRESS_MOVED', `at position ${position} stands ${cut(address.address)} by now`, platform)
  } else if (!mayMove(address.state, movesOf[operation])) {
    refuse(context, 'INVALID_STATE', `${operation}: the address is ${address.state.toLowerCase()}`, platform)
  } else {
    if (operation === 'remove') {
      removeAddress(platform, position, context)
      platform.row = { ...platform.row, addresses: platform.row.addresses.toSpliced(position, 1) }
    } else {
      moveAddress(platform, position, movesOf[operation], context)
    }
    finish(platform, context)
  }
}

/** The platform with all that was due done; undefined when there is none, which is then the answer. */
function settled(name: string, context: Context): OpenPlatform | undefined {
  const platform = openPlatform(name, context)
  if (platform === undefined) refuse(context, 'PLATFORM_NOT_FOUND', `there is no platform ${cut(name)}`)
  else settlePlatform(platform, context)
  return platform
}

function finish(platform: OpenPlatform, context: Context): void {
  closePlatform(platform, context)
  const view = platformView(platform.name, platform.row, context.time, context)
  context.answer({ ok: true, platform: view } satisfies PlatformAnswer)
}

/** Nothing of the command is done; what was due before it is. */
function refuse(context: Context, code: PlatformRefusal, message: string, platform?: OpenPlatform): void {
  if (platform !== undefined) closePlatform(platform, context)
  context.because('the command is refused', { code })
  context.answer({ ok: false, code, message } satisfies PlatformAnswer)
}

function removeAddress(platform: OpenPlatform, position: number, context: Context): void {
  const address = platform.row.addresses[position]
  moveAddress(platform, position, 'REMOVED', context)
  if (address !== undefined) forgetWindows(platform.name, address, context)
}

function newAddress({ address, active }: NewAddress, id: number, { time }: Context): AddressRow {
  return {
    id,
    address,
    state: active ? 'ACTIVE' : 'INACTIVE',
    since: time,
    windowsFrom: time,
    failed: 0,
    calls: 0,
    raised: 0,
    retryFrom: 0,
    attemptId: '',
    attemptDue: 0,
    successes: 0,
  }
}

/** The parameters alone. */
function parametersOf(parameters: PlatformParameters): PlatformParameters {
  const { selectionMode, detectInterval, detectThreshold, retryInterval, retryAttempts, minCalls, panicMode } =
    parameters
  return { selectionMode, detectInterval, detectThreshold, retryInterval, retryAttempts, minCalls, panicMode }
}

type Changes = Omit<PlatformUpdated, 'platform'>

function withoutNulls(changes: Changes): Partial<PlatformParameters> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null))
}
