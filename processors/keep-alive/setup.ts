import type { E2SetupRequested, RanConnectionLost } from '../../schemas/keep-alive/journal-events.js'
import type { Reads } from '../../topology/processor.js'
import { ricOf } from './context.js'
import type { Context } from './context.js'
import { command, tellManipulation } from './outputs.js'
import { plmnIdOf } from './plmn-id.js'
import { countRan, moveRan } from './rans.js'
import { owe } from './routing-manager.js'
import { isRepeat } from './seen-messages.js'
import { e2tInstances, keyOf, nodebs, rans } from './tables.js'
import type { NodebRow, RanRow } from './tables.js'

/** A RAN that was disconnected so lately may still be in the middle of it. */
const RESET_MS = 10_000
const WAIT_SEC = 60

/** E2AP's causes, as told to the RAN. */
const causes = {
  disabled: 'misc/om-intervention',
  busy: 'transport/transport-resource-unavailable',
  failed: 'transport/transport-resource-unavailable',
} as const

export function readsOfSetup({ ric, ranName }: E2SetupRequested): Reads {
  return { rows: [{ table: nodebs, key: keyOf(ric, ranName) }] }
}

/** A RAN wants to be connected, at the instance that passes its request on. (keep-alive, section 6) */
export function e2SetupRequested(setup: E2SetupRequested, context: Context): void {
  const { ric, ranName, address } = setup
  if (!ricOf(context, ric).enableRic) {
    answerFailure(context, setup, 'disabled')
    return
  }
  if (context.get(e2tInstances, keyOf(ric, address))?.state !== 'ACTIVE') {
    context.count('unanswered_setups')
    context.because('setup at an instance that is not active: no answer')
    return
  }
  const ran = context.get(rans, keyOf(ric, ranName))
  if (ran !== undefined && isBusy(ran, context.time)) answerFailure(context, setup, 'busy')
  else associate(context, setup, ran)
}

/** The association that a setup waits for has come to an end. */
export function associationEnded(
  context: Context,
  answer: Pick<E2SetupRequested, 'ric' | 'ranName' | 'address' | 'transactionId'>,
  succeeded: boolean,
): void {
  const { ric, ranName, address } = answer
  const ran = context.get(rans, keyOf(ric, ranName))
  if (ran?.e2tAddress !== address) return
  if (succeeded) {
    moveRan(context, ric, ranName, ran, 'associated')
    answerSuccess(context, answer)
  } else {
    moveRan(context, ric, ranName, ran, 'associationFailed', { e2tAddress: '' })
    countRan(context, ric, address, -1)
    // The call may have arrived all the same.
    owe(context, { ric, address, ranName, purpose: 'dissociate', ranNames: [ranName] })
    answerFailure(context, answer, 'failed')
  }
}

/** (SCTP_CONNECTION_FAILURE) */
export function ranConnectionLost(lost: RanConnectionLost, context: Context): void {
  if (isRepeat(lost, context)) return
  const { ric, ranName } = lost
  const ran = context.get(rans, keyOf(ric, ranName))
  if (ran === undefined) {
    context.count('unknown_rans', 'lost connection')
  } else if (ran.state === 'SHUTTING_DOWN') {
    moveRan(context, ric, ranName, ran, 'connectionLostShuttingDown')
  } else if (ran.state !== 'SHUT_DOWN') {
    moveRan(context, ric, ranName, ran, 'connectionLost', { e2tAddress: '' })
    dissociate(context, ric, ranName, ran.e2tAddress)
  }
}

function isBusy({ state, stateChangedAt }: RanRow, now: number): boolean {
  return (
    state === 'SHUTTING_DOWN' || (state === 'DISCONNECTED' && stateChangedAt !== 0 && now - stateChangedAt < RESET_MS)
  )
}

function associate(context: Context, setup: E2SetupRequested, ran: RanRow | undefined): void {
  const { ric, ranName, address, plmnId, nbId, transactionId } = setup
  const key = keyOf(ric, ranName)
  const isAwaited = context.settings.onRoutingManagerFailure === 'fail'
  context.put(nodebs, key, nodebAfter(setup, context.get(nodebs, key)))
  if (ran === undefined) tellManipulation(context, ric, ranName, 'ADDED')
  if (ran !== undefined && ran.e2tAddress !== address) dissociate(context, ric, ranName, ran.e2tAddress)
  if (ran?.e2tAddress !== address) countRan(context, ric, address, 1)
  // One that is connected stays so until the outcome is known.
  const move = isAwaited && ran?.state !== 'CONNECTED' ? 'setUpAwaited' : 'setUp'
  moveRan(context, ric, ranName, ran, move, { e2tAddress: address, plmnId, nbId })
  owe(context, {
    ric,
    address,
    ranName,
    purpose: 'associate',
    ranNames: [ranName],
    ...(isAwaited && { awaitedBy: { transactionId } }),
  })
  if (!isAwaited) answerSuccess(context, setup)
}

function dissociate(context: Context, ric: string, ranName: string, address: string): void {
  if (address === '') return
  countRan(context, ric, address, -1)
  owe(context, { ric, address, ranName, purpose: 'dissociate', ranNames: [ranName] })
}

/** Functions come with each setup; cells that an operator has given stay. */
function nodebAfter({ nodeType, ranFunctions }: E2SetupRequested, known: NodebRow | undefined): NodebRow {
  const isSameKind = known?.nodeType === nodeType
  const before = isSameKind ? (JSON.parse(known.configuration) as object) : {}
  return {
    nodeType,
    ip: known?.ip ?? '',
    port: known?.port ?? 0,
    setupFromNetwork: true,
    configuration: JSON.stringify({ ...before, ranFunctions }),
  }
}

type Answered = Pick<E2SetupRequested, 'ric' | 'ranName' | 'address' | 'transactionId'>

function answerSuccess(context: Context, { ric, ranName, address, transactionId }: Answered): void {
  const { globalRicMcc, globalRicMnc } = context.settings
  const globalRicId = { plmnId: plmnIdOf(globalRicMcc, globalRicMnc), ricId: ric }
  command(context, 'E2_SETUP_RESP', { ric, e2t: address, ranName }, { ranName, transactionId, globalRicId })
  context.count('setups', 'success')
}

function answerFailure(
  context: Context,
  { ric, ranName, address, transactionId }: Answered,
  why: keyof typeof causes,
): void {
  const data = { ranName, transactionId, cause: causes[why], timeToWaitSec: WAIT_SEC }
  context.because(`setup of RAN ${ranName} refused: ${why}`, { cause: causes[why] })
  command(context, 'E2_SETUP_FAILURE', { ric, e2t: address, ranName }, data)
  context.count('setups', why)
}
