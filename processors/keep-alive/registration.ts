import type { E2tInitReported, KeepAliveAnswered } from '../../schemas/keep-alive/journal-events.js'
import { changeRic, ricOf } from './context.js'
import type { Context } from './context.js'
import { forget } from './kill.js'
import { e2tMoves, moved } from './moves.js'
import { command, requestKeepAlive } from './outputs.js'
import { withdrawPod } from './pods.js'
import { moveRan, ransOf } from './rans.js'
import { owe, owedDissociation, withdrawCalls } from './routing-manager.js'
import { isRepeat } from './seen-messages.js'
import { e2tInstances, keyOf } from './tables.js'
import type { E2tInstanceRow } from './tables.js'
import { startTicks } from './ticks.js'

/** An E2 termination has started: a new instance, or one that was restarted. (keep-alive, section 6) */
export function e2tInitReported(init: E2tInitReported, context: Context): void {
  if (isRepeat(init, context)) return
  const { ric, address, podName } = init
  const instance = context.get(e2tInstances, keyOf(ric, address))
  if (instance === undefined) {
    register(context, init)
  } else if (instance.state === 'ACTIVE') {
    // A restarted E2 termination sends its init again when no request follows soon.
    requestKeepAlive(context, { ric, e2t: address })
    const renewed = { ...instance, registeredAt: context.time, ...(podName !== '' && { podName }) }
    if (instance.ranCount > 0) restart(context, ric, address, renewed)
    else renew(context, ric, address, renewed)
  } else {
    context.count('ignored_inits', instance.state)
    context.because(`init of an instance that is ${instance.state}: changes nothing`)
  }
}

/** The Routing Manager knows of a new instance: only now it is stored. Or it does not, and the next init starts again. */
export function registrationEnded(context: Context, ric: string, address: string, succeeded: boolean): void {
  const key = keyOf(ric, address)
  const instance = context.get(e2tInstances, key)
  if (instance?.state !== 'REGISTERING') return
  context.because(`instance ${address}: the Routing Manager has answered its registration`, { succeeded })
  if (!succeeded) {
    forget(context, ric, address, 'routingManagerRefused')
    return
  }
  const state = moved(e2tMoves, 'routingManagerAccepted', instance.state)
  context.put(e2tInstances, key, { ...instance, state, registeredAt: context.time })
  context.count('instance_moves', 'routingManagerAccepted')
  changeRic(context, ric, { addresses: [...ricOf(context, ric).addresses, address] })
  requestKeepAlive(context, { ric, e2t: address })
  startTicks(context, ric)
}

/** A sign of life; it never makes an instance known. */
export function keepAliveAnswered({ ric, address }: KeepAliveAnswered, context: Context): void {
  const key = keyOf(ric, address)
  const instance = context.get(e2tInstances, key)
  if (instance?.state === 'ACTIVE') {
    context.put(e2tInstances, key, { ...instance, answeredAt: context.time })
    context.count('answers')
  } else if (instance?.state === 'TO_BE_DELETED') {
    context.count('late_answers')
  } else {
    context.count('unknown_answers')
    const isKnown = instance !== undefined
    if (context.settings.askForInit && !isKnown) command(context, 'SEND_INIT', { ric, e2t: address })
  }
}

function register(context: Context, { ric, address, podName }: E2tInitReported): void {
  withdrawCalls(context, ric, address)
  withdrawPod(context, ric, address)
  const state = moved(e2tMoves, 'initReceived', null)
  const row = { podName, state, registeredAt: context.time, answeredAt: 0, deletionDue: 0, ranCount: 0 }
  context.put(e2tInstances, keyOf(ric, address), row)
  context.count('instance_moves', 'initReceived')
  owe(context, { ric, address, purpose: 'register', ranNames: [] })
}

/** It has no RANs: the Routing Manager is told of it once more. */
function renew(context: Context, ric: string, address: string, renewed: E2tInstanceRow): void {
  context.put(e2tInstances, keyOf(ric, address), renewed)
  if (owedDissociation(context, ric, address).length > 0) return
  owe(context, { ric, address, purpose: 'register', ranNames: [] })
}

/** It has lost the RANs that it had: one call dissociates them. */
function restart(context: Context, ric: string, address: string, renewed: E2tInstanceRow): void {
  const lost = ransOf(context, ric, address)
  for (const [ranName, ran] of lost) {
    moveRan(context, ric, ranName, ran, 'instanceRestarted', { e2tAddress: '' })
  }
  context.put(e2tInstances, keyOf(ric, address), { ...renewed, ranCount: 0 })
  const ranNames = [...new Set([...owedDissociation(context, ric, address), ...lost.map(([ranName]) => ranName)])]
  withdrawCalls(context, ric, address)
  owe(context, { ric, address, purpose: 'dissociate', ranNames })
}
