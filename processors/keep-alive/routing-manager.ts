import type { RoutingManagerCalled } from '../../schemas/keep-alive/journal-events.js'
import type { Context } from './context.js'
import { effectIdOf } from './context.js'
import { ROUTING_MANAGER_ATTEMPT, ROUTING_MANAGER_CALL } from './effect-requests.js'
import type { RoutingManagerRequest } from './effect-requests.js'
import { keyOf, nameIn, routingManagerCalls, SEPARATOR } from './tables.js'
import type { RoutingManagerCallRow } from './tables.js'

export interface NewCall extends Pick<RoutingManagerCallRow, 'purpose' | 'ranNames'> {
  readonly ric: string
  readonly address: string
  /** The one RAN that it is about; absent: the instance as a whole. */
  readonly ranName?: string
  /** The setup that waits for it. */
  readonly awaitedBy?: { readonly transactionId: string }
}

/**
 * Owes the Routing Manager a call. Calls about one instance are carried out in order; one on the same instance and RAN that is
 * still owed is withdrawn, since the new one states the wanted end. (keep-alive, section 6)
 */
export function owe(context: Context, call: NewCall): void {
  const { ric, address, ranName = '', purpose, ranNames, awaitedBy } = call
  const key = keyOf(ric, address, ranName)
  withdraw(context, key)
  const isAwaited = awaitedBy !== undefined
  const row = newRow(context, { purpose, ranNames, isAwaited, transactionId: awaitedBy?.transactionId ?? '' })
  context.put(routingManagerCalls, key, row)
  const request: RoutingManagerRequest = {
    ric,
    call: keyOf(address, ranName),
    ...requestOf(purpose, address, ranNames),
  }
  context.request({
    id: effectIdOf(row, purpose, key),
    kind: isAwaited || purpose === 'register' ? ROUTING_MANAGER_ATTEMPT : ROUTING_MANAGER_CALL,
    target: targetOf(context, call),
    payload: request,
  })
}

/**
 * Calls about one instance stand in one line, as they change one list. While the dissociation of all is still owed, what changes a
 * list stands in its line: done first, it would be undone. What somebody waits for does not, so that its tries are over in time.
 */
function targetOf(context: Context, { ric, address, purpose, awaitedBy }: NewCall): string {
  const ofRans = (purpose === 'associate' || purpose === 'dissociate') && awaitedBy === undefined
  const behindAll = ofRans && context.get(routingManagerCalls, keyOf(ric, '', '')) !== undefined
  return keyOf('routing-manager', ric, behindAll ? '' : address)
}

/** All RANs of all instances are dissociated: one call, which makes those on single RANs needless. */
export function oweDissociationOfAll(context: Context, ric: string, addresses: readonly string[]): void {
  for (const [key, { purpose }] of callsOf(context, ric)) {
    if (purpose === 'associate' || purpose === 'dissociate') withdraw(context, key)
  }
  const key = keyOf(ric, '', '')
  const row = newRow(context, { purpose: 'dissociate', ranNames: [], isAwaited: false, transactionId: '' })
  context.put(routingManagerCalls, key, row)
  const request: RoutingManagerRequest = {
    ric,
    call: keyOf('', ''),
    method: 'POST',
    path: 'dissociate-ran',
    body: addresses.map((address) => ({ E2TAddress: address })),
  }
  const target = keyOf('routing-manager', ric, '')
  context.request({ id: effectIdOf(row, row.purpose, key), kind: ROUTING_MANAGER_CALL, target, payload: request })
}

/** Withdraws what is owed about an instance: its life has ended, or another has begun. */
export function withdrawCalls(context: Context, ric: string, address: string): void {
  const prefix = address + SEPARATOR
  for (const [key] of callsOf(context, ric)) if (nameIn(ric, key).startsWith(prefix)) withdraw(context, key)
}

/** RANs whose dissociation from an instance as a whole is still owed. */
export function owedDissociation(context: Context, ric: string, address: string): readonly string[] {
  const owed = context.get(routingManagerCalls, keyOf(ric, address, ''))
  return owed?.purpose === 'dissociate' ? owed.ranNames : []
}

/** A call has come to an end; undefined: it had been withdrawn. */
export function settleCall(
  context: Context,
  { ric, call, effectId, succeeded }: RoutingManagerCalled,
): { readonly address: string; readonly ranName: string; readonly row: RoutingManagerCallRow } | undefined {
  const key = keyOf(ric, call)
  const row = context.get(routingManagerCalls, key)
  if (row === undefined || effectIdOf(row, row.purpose, key) !== effectId) return undefined
  context.delete(routingManagerCalls, key)
  context.count('routing_manager_calls', `${row.purpose} ${succeeded ? 'succeeded' : 'failed'}`)
  const [address = '', ranName = ''] = call.split(SEPARATOR)
  return { address, ranName, row }
}

function newRow(
  { time, position }: Context,
  call: Omit<RoutingManagerCallRow, 'since' | 'offset' | 'index'>,
): RoutingManagerCallRow {
  return { ...call, since: time, ...position }
}

function withdraw(context: Context, key: string): void {
  const owed = context.get(routingManagerCalls, key)
  if (owed === undefined) return
  context.withdraw(effectIdOf(owed, owed.purpose, key))
  context.delete(routingManagerCalls, key)
  context.count('withdrawn_calls', owed.purpose)
}

function callsOf(context: Context, ric: string): (readonly [key: string, row: RoutingManagerCallRow])[] {
  const prefix = ric + SEPARATOR
  return [...context.resident(routingManagerCalls)].filter(([key]) => key.startsWith(prefix))
}

type Request = Pick<RoutingManagerRequest, 'method' | 'path' | 'body'>

/** Paths and bodies of the Routing Manager's interface; names are left out where there are none. */
function requestOf(
  purpose: RoutingManagerCallRow['purpose'],
  E2TAddress: string,
  ranNames: readonly string[],
): Request {
  const ofRans = ranNames.length > 0 ? { ranNamelist: ranNames } : {}
  switch (purpose) {
    case 'register':
      return { method: 'POST', path: 'e2t', body: { E2TAddress } }
    case 'delete': {
      const names = ranNames.length > 0 ? { ranNamelistTobeDissociated: ranNames } : {}
      return { method: 'DELETE', path: 'e2t', body: { E2TAddress, ...names } }
    }
    case 'associate':
      return { method: 'POST', path: 'associate-ran-to-e2t', body: [{ E2TAddress, ...ofRans }] }
    case 'dissociate':
      return { method: 'POST', path: 'dissociate-ran', body: [{ E2TAddress, ...ofRans }] }
  }
}
