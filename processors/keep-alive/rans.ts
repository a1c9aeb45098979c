import type { Context } from './context.js'
import { moved, ranMoves } from './moves.js'
import type { RanMove } from './moves.js'
import { tellConnection } from './outputs.js'
import { e2tInstances, keyOf, nameIn, rans, SEPARATOR } from './tables.js'
import type { RanRow } from './tables.js'

/** The RANs of a RIC by name, in the order of names; with `address` those of one instance. */
export function ransOf(context: Context, ric: string, address?: string): (readonly [ranName: string, row: RanRow])[] {
  const prefix = ric + SEPARATOR
  const found: (readonly [string, RanRow])[] = []
  for (const [key, row] of context.resident(rans)) {
    if (key.startsWith(prefix) && (address === undefined || row.e2tAddress === address)) {
      found.push([nameIn(ric, key), row])
    }
  }
  return found
}

/** Moves a RAN, and says so where it comes to be connected or ceases to be. A state that stays keeps its time. */
export function moveRan(
  context: Context,
  ric: string,
  ranName: string,
  row: RanRow | undefined,
  move: Exclude<RanMove, 'deleted'>,
  change: Partial<RanRow> = {},
): void {
  const before = row?.state ?? null
  const state = moved(ranMoves, move, before)
  const stateChangedAt = state === before ? (row?.stateChangedAt ?? 0) : context.time
  context.put(rans, keyOf(ric, ranName), { ...NEW_RAN, ...row, state, stateChangedAt, ...change })
  context.count('ran_moves', move)
  context.because(`RAN ${ranName}: ${move}`, { from: before, to: state })
  if (state === before) return
  if (state === 'CONNECTED') tellConnection(context, ric, ranName, 'CONNECTED')
  else if (before === 'CONNECTED') tellConnection(context, ric, ranName, 'DISCONNECTED')
}

/** One RAN more, or less, at an instance; nothing where that is not known. */
export function countRan(context: Context, ric: string, address: string, difference: 1 | -1): void {
  const key = keyOf(ric, address)
  const instance = context.get(e2tInstances, key)
  if (instance === undefined) return
  context.put(e2tInstances, key, { ...instance, ranCount: instance.ranCount + difference })
}

const NEW_RAN: Omit<RanRow, 'state' | 'stateChangedAt'> = {
  e2tAddress: '',
  plmnId: '',
  nbId: '',
  healthAskedAt: 0,
  healthAnsweredAt: 0,
}
