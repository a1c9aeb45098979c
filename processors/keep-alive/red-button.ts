import type { RedButtonAnswer, RedButtonPressed } from '../../schemas/keep-alive/journal-events.js'
import { changeRic, deadlineId, ricOf } from './context.js'
import type { Context } from './context.js'
import { command } from './outputs.js'
import { moveRan, ransOf } from './rans.js'
import { oweDissociationOfAll } from './routing-manager.js'
import { e2tInstances, keyOf } from './tables.js'

/**
 * All RANs of the RIC are shut down: at once where there is no instance; else their instances are told to close all
 * connections, and what is not closed some time later counts as closed. (keep-alive, section 6)
 */
export function redButtonPressed({ ric }: RedButtonPressed, context: Context): void {
  const { addresses, redButtonDue } = ricOf(context, ric)
  const all = ransOf(context, ric)
  if (addresses.length === 0) {
    for (const [ranName, ran] of all) {
      if (ran.state !== 'SHUT_DOWN') moveRan(context, ric, ranName, ran, 'shutDownAtOnce', { e2tAddress: '' })
    }
    context.answer({ due: 0 } satisfies RedButtonAnswer)
    return
  }
  oweDissociationOfAll(context, ric, addresses)
  let changed = false
  for (const [ranName, ran] of all) {
    if (ran.state === 'SHUT_DOWN' || ran.state === 'SHUTTING_DOWN') continue
    moveRan(context, ric, ranName, ran, 'redButtonPressed', { e2tAddress: '' })
    changed = true
  }
  for (const address of addresses) {
    const key = keyOf(ric, address)
    const instance = context.get(e2tInstances, key)
    if (instance !== undefined) context.put(e2tInstances, key, { ...instance, ranCount: 0 })
  }
  command(context, 'SCTP_CLEAR_ALL', { ric })
  if (changed) {
    const due = context.time + context.settings.bigRedButtonTimeoutMs
    if (redButtonDue !== 0) context.disarm(redButtonDue, deadlineId('red-button', ric))
    context.arm(due, deadlineId('red-button', ric))
    changeRic(context, ric, { redButtonDue: due })
  }
  context.answer({ due: ricOf(context, ric).redButtonDue } satisfies RedButtonAnswer)
}

export function redButtonDue(ric: string, context: Context): void {
  for (const [ranName, ran] of ransOf(context, ric)) {
    if (ran.state === 'SHUTTING_DOWN') moveRan(context, ric, ranName, ran, 'shutDownTimedOut')
  }
  changeRic(context, ric, { redButtonDue: 0 })
}
