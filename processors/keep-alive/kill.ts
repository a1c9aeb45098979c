import { changeRic, deadlineId, ricOf } from './context.js'
import type { Context } from './context.js'
import { e2tMoves, moved } from './moves.js'
import type { E2tMove } from './moves.js'
import { deletePod, givePodUp } from './pods.js'
import { moveRan, ransOf } from './rans.js'
import { owe, withdrawCalls } from './routing-manager.js'
import { e2tInstances, keyOf } from './tables.js'

/**
 * An instance has fallen silent: in one fold it is to be deleted, its RANs are disconnected (those that are shut down are
 * left alone), and it is owed that Kubernetes deletes its pod and that the Routing Manager is told. (keep-alive, section 6)
 */
export function kill(context: Context, ric: string, address: string): void {
  const key = keyOf(ric, address)
  const instance = context.get(e2tInstances, key)
  if (instance === undefined) return
  const deletionDue = context.time + context.settings.e2tInstanceDeletionTimeoutMs
  const state = moved(e2tMoves, 'fellSilent', instance.state)
  context.put(e2tInstances, key, { ...instance, state, deletionDue, ranCount: 0 })
  context.count('instance_moves', 'fellSilent')
  context.arm(deletionDue, deadlineId('deletion', ric, address))
  const ofInstance = ransOf(context, ric, address)
  for (const [ranName, ran] of ofInstance) {
    moveRan(context, ric, ranName, ran, 'instanceKilled', { e2tAddress: '' })
  }
  withdrawCalls(context, ric, address)
  owe(context, { ric, address, purpose: 'delete', ranNames: ofInstance.map(([ranName]) => ranName) })
  deletePod(context, ric, address, instance.podName, deletionDue)
}

/** The entry goes though the Routing Manager could not be told, which stays owed; a pod still there is given up. */
export function deletionDue(ric: string, address: string, due: number, context: Context): void {
  if (context.get(e2tInstances, keyOf(ric, address))?.deletionDue === due) {
    forget(context, ric, address, 'deletionTimedOut')
  }
  givePodUp(context, ric, address, due)
}

/** Takes an instance out of its RIC. */
export function forget(context: Context, ric: string, address: string, move: E2tMove): void {
  const key = keyOf(ric, address)
  const instance = context.get(e2tInstances, key)
  // Another life of the same address: what belongs to the former one changes nothing.
  if (instance === undefined || !(e2tMoves[move].from as readonly unknown[]).includes(instance.state)) return
  moved(e2tMoves, move, instance.state)
  context.delete(e2tInstances, key)
  context.count('instance_moves', move)
  context.because(`instance ${address}: ${move}`, { from: instance.state })
  changeRic(context, ric, { addresses: ricOf(context, ric).addresses.filter((other) => other !== address) })
}
