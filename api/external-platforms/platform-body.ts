import { cut } from '../../common/errors.js'
import { nameFault, NAME_LIMIT, platformNameFault } from '../../schemas/address-health/names.js'
import { SELECTION_MODES } from '../../schemas/address-health/journal-events.js'
import type {
  AddressAdded,
  NewAddress,
  PlatformCreated,
  PlatformParameters,
  PlatformUpdated,
  SelectionMode,
} from '../../schemas/address-health/journal-events.js'
import { ADDRESS_LIMIT } from '../../processors/address-health/index.js'
import { isJsonObject } from '../../schemas/json.js'
import { membersOf, wholeNumber } from './members.js'
import type { Members } from './members.js'

/** The vendor's defaults, and ours for what we added. (address health, sections 0 and 3) */
const defaults: Omit<PlatformParameters, 'selectionMode'> = {
  detectInterval: 5000,
  detectThreshold: 0.5,
  retryInterval: 30_000,
  retryAttempts: 3,
  minCalls: 1,
  panicMode: false,
}

const YEAR_MS = 31_536_000_000
const MOST = 1_000_000

const name = `a text of 1 to ${NAME_LIMIT} characters without control characters`
const modes = `one of ${SELECTION_MODES.join(', ')}`
const interval = `a whole number of ms from 0 to ${YEAR_MS}`
const count = `a whole number from 1 to ${MOST}`

const isName = (value: unknown): string | undefined =>
  typeof value === 'string' && nameFault(value) === null ? value : undefined
const isPlatformName = (value: unknown): string | undefined =>
  typeof value === 'string' && platformNameFault(value) === null ? value : undefined
const isMode = (value: unknown): SelectionMode | undefined =>
  typeof value === 'string' ? SELECTION_MODES.find((mode) => mode === value.toUpperCase()) : undefined
const isShare = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= 1 ? value : undefined
const isFlag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined)
const isStartState = (value: unknown): boolean | undefined =>
  value === 'active' ? true : value === 'inactive' ? false : undefined

/** The body of a creation. Errors: BODY_INVALID, naming each wrong member. Members not known are ignored. */
export function createdPlatform(body: unknown): PlatformCreated {
  const members = membersOf(body)
  const platform = members.require('name', `${name} and without slashes, and not . or ..`, isPlatformName) ?? ''
  const selectionMode = members.require('selectionMode', modes, isMode) ?? 'ACTIVE_STANDBY'
  const changes = parameters(members)
  const addresses = newAddresses(members)
  members.check()
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null))
  return { ...defaults, ...given, platform, selectionMode, addresses }
}

/** The body of an update; what is absent stays. Errors: BODY_INVALID. */
export function updatedPlatform(platform: string, body: unknown): PlatformUpdated {
  const members = membersOf(body)
  const selectionMode = members.take('selectionMode', modes, isMode)
  const changes = parameters(members)
  members.check()
  return { platform, selectionMode, ...changes }
}

/** The body of a new address. Errors: BODY_INVALID. */
export function addedAddress(platform: string, body: unknown): AddressAdded {
  const members = membersOf(body)
  const address = members.require('address', name, isName) ?? ''
  const active = members.take('state', 'active or inactive', isStartState) ?? true
  const position = members.take('position', `a position from 0 to ${ADDRESS_LIMIT}`, wholeNumber(0, ADDRESS_LIMIT))
  members.check()
  return { platform, address, active, position }
}

function parameters(members: Members): Omit<PlatformUpdated, 'platform' | 'selectionMode'> {
  return {
    detectInterval: members.take('detectInterval', interval, wholeNumber(0, YEAR_MS)),
    detectThreshold: members.take('detectThreshold', 'a number from 0 to 1', isShare),
    retryInterval: members.take('retryInterval', interval, wholeNumber(0, YEAR_MS)),
    retryAttempts: members.take('retryAttempts', count, wholeNumber(1, MOST)),
    minCalls: members.take('minCalls', count, wholeNumber(1, MOST)),
    panicMode: members.take('panicMode', 'true or false', isFlag),
  }
}

/** Each an address, or an object as an address is added by; their order is that of the positions. */
function newAddresses(members: Members): readonly NewAddress[] {
  const list = members.take('addresses', `a list of at most ${ADDRESS_LIMIT}`, (value) =>
    Array.isArray(value) && value.length <= ADDRESS_LIMIT ? (value as unknown[]) : undefined,
  )
  const seen = new Set<string>()
  return (list ?? []).flatMap((item, at) => {
    const { address: text, state = 'active' } = isJsonObject(item) ? item : { address: item }
    const address = isName(text)
    const active = isStartState(state)
    if (address === undefined) members.wrong(`addresses[${at}].address`, `is ${cut(text)}, not ${name}`)
    else if (seen.has(address))
      members.wrong(`addresses[${at}].address`, `is ${cut(address)}, which stands there twice`)
    else seen.add(address)
    if (active === undefined) members.wrong(`addresses[${at}].state`, `is ${cut(state)}, not active or inactive`)
    return address === undefined || active === undefined ? [] : [{ address, active }]
  })
}
