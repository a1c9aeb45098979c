import type {
  EnbAdded,
  EnbDeleted,
  NodebAnswer,
  NodebUpdated,
  RanHealthAnswer,
  RanHealthAsked,
  RicParametersAnswer,
  RicParametersSet,
  ServiceUpdated,
} from '../../schemas/keep-alive/journal-events.js'
import type { Reads } from '../../topology/processor.js'
import { changeRic } from './context.js'
import type { Context } from './context.js'
import { moved, ranMoves } from './moves.js'
import { command, tellManipulation } from './outputs.js'
import { moveRan, ransOf } from './rans.js'
import { keyOf, nodebs, rans } from './tables.js'

/** The acts of operators on a RIC and its RANs: commands of the REST interface. (keep-alive, section 2) */

export function readsOfNodeb({ ric, ranName }: { readonly ric: string; readonly ranName: string }): Reads {
  return { rows: [{ table: nodebs, key: keyOf(ric, ranName) }] }
}

export function ricParametersSet({ ric, enableRic }: RicParametersSet, context: Context): void {
  changeRic(context, ric, { enableRic })
  context.answer({ enableRic } satisfies RicParametersAnswer)
}

export function enbAdded({ ric, ranName, plmnId, nbId, ip, port, enb }: EnbAdded, context: Context): void {
  const key = keyOf(ric, ranName)
  if (context.get(rans, key) !== undefined) {
    answer(context, { done: false, why: 'exists' })
    return
  }
  context.put(nodebs, key, { nodeType: 'ENB', ip, port, setupFromNetwork: false, configuration: enb })
  // It has never been connected: its first setup need not wait.
  moveRan(context, ric, ranName, undefined, 'added', { plmnId, nbId, stateChangedAt: 0 })
  tellManipulation(context, ric, ranName, 'ADDED')
  answer(context, { done: true })
}

/** An eNB's configuration is replaced, of a gNB the cells; functions that a setup has brought stay. */
export function nodebUpdated({ ric, ranName, nodeType, configuration }: NodebUpdated, context: Context): void {
  const key = keyOf(ric, ranName)
  const nodeb = context.get(nodebs, key)
  if (nodeb === undefined) {
    answer(context, { done: false, why: 'notFound' })
    return
  }
  if (nodeb.nodeType !== nodeType) {
    answer(context, { done: false, why: nodeType === 'ENB' ? 'notAllowed' : 'internal' })
    return
  }
  const before = JSON.parse(nodeb.configuration) as { ranFunctions?: unknown }
  const kept =
    nodeType === 'GNB' ? before : before.ranFunctions === undefined ? {} : { ranFunctions: before.ranFunctions }
  const after = { ...kept, ...(JSON.parse(configuration) as object) }
  context.put(nodebs, key, { ...nodeb, configuration: JSON.stringify(after) })
  tellManipulation(context, ric, ranName, 'UPDATED')
  answer(context, { done: true })
}

/** Only an eNB that an operator has added and that has never been set up. */
export function enbDeleted({ ric, ranName }: EnbDeleted, context: Context): void {
  const key = keyOf(ric, ranName)
  const nodeb = context.get(nodebs, key)
  const ran = context.get(rans, key)
  if (nodeb === undefined || ran === undefined) {
    answer(context, { done: false, why: 'notFound' })
    return
  }
  if (nodeb.nodeType !== 'ENB' || nodeb.setupFromNetwork) {
    answer(context, { done: false, why: 'notAllowed' })
    return
  }
  moved(ranMoves, 'deleted', ran.state)
  context.delete(rans, key)
  context.delete(nodebs, key)
  context.count('ran_moves', 'deleted')
  tellManipulation(context, ric, ranName, 'DELETED')
  answer(context, { done: true })
}

/** Asks connected RANs for a sign of life. */
export function ranHealthAsked({ ric, ranNames }: RanHealthAsked, context: Context): void {
  const wanted = ranNames === null ? undefined : new Set(ranNames)
  const asked = ransOf(context, ric).filter(
    ([ranName, { state }]) => state === 'CONNECTED' && (wanted === undefined || wanted.has(ranName)),
  )
  for (const [ranName, ran] of asked) {
    context.put(rans, keyOf(ric, ranName), { ...ran, healthAskedAt: context.time })
    command(context, 'SERVICE_QUERY', { ric, e2t: ran.e2tAddress, ranName }, { ranName })
  }
  context.answer({ asked: asked.length } satisfies RanHealthAnswer)
}

export function serviceUpdated({ ric, ranName }: ServiceUpdated, context: Context): void {
  const key = keyOf(ric, ranName)
  const ran = context.get(rans, key)
  if (ran === undefined) context.count('unknown_rans', 'service update')
  else context.put(rans, key, { ...ran, healthAnsweredAt: context.time })
}

function answer(context: Context, value: NodebAnswer): void {
  context.answer(value)
}
