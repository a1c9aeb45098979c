import { e2tCommandJson } from '../../schemas/keep-alive/message-schemas.js'
import { messageType, messageTypes } from '../../schemas/keep-alive/message-types.js'
import type { MessageName } from '../../schemas/keep-alive/message-types.js'
import type { JournalEvent, OutputTopic } from '../../topology/processor.js'
import type { Context } from './context.js'

const HOUR_MS = 3_600_000

/** Read at once or never: a request an hour old asks nobody anything. */
export const keepAliveRequests: OutputTopic = { topic: 'e2t-keep-alive-requests', retentionMs: HOUR_MS }
export const e2tCommands: OutputTopic = { topic: 'e2t-commands', json: e2tCommandJson }
export const ranConnectionEvents: OutputTopic = { topic: 'ran-connection-events' }
export const ranManipulationEvents: OutputTopic = { topic: 'ran-manipulation-events' }

export const outputs = [keepAliveRequests, e2tCommands, ranConnectionEvents, ranManipulationEvents] as const

/** ce_source of all that is sent to E2 terminations. */
const SOURCE = 'pulsefold'

/** Whom a message is for; without `e2t` all instances of the RIC. */
interface Receiver {
  readonly ric: string
  readonly e2t?: string
  readonly ranName?: string
}

/** One keep-alive request: to all instances of a RIC, or to one. */
export function requestKeepAlive(context: Context, receiver: Receiver, acknowledged?: JournalEvent): void {
  const headers = headersOf('E2_TERM_KEEP_ALIVE_REQ', receiver)
  context.emit(keepAliveRequests, { key: receiver.ric, value: '', headers }, acknowledged)
}

/** A command to E2 terminations; `data` becomes JSON, without it the record is of zero length. */
export function command(context: Context, name: MessageName | 'SEND_INIT', receiver: Receiver, data?: object): void {
  const value = data === undefined ? '' : JSON.stringify(data)
  context.emit(e2tCommands, { key: receiver.ric, value, headers: headersOf(name, receiver, data !== undefined) })
}

/** `<ranName>_CONNECTED` and so on. */
export function tellConnection(
  context: Context,
  ric: string,
  ranName: string,
  event: 'CONNECTED' | 'DISCONNECTED',
): void {
  context.emit(ranConnectionEvents, ranEvent(ric, ranName, event))
}

export function tellManipulation(
  context: Context,
  ric: string,
  ranName: string,
  event: 'ADDED' | 'UPDATED' | 'DELETED',
): void {
  context.emit(ranManipulationEvents, ranEvent(ric, ranName, event))
}

type Header = readonly [name: string, value: string]

function ranEvent(ric: string, ranName: string, event: string): { key: string; value: string; headers: Header[] } {
  const headers: Header[] = [
    ['ce_type', `org.oran.e2.RAN_${event}`],
    ['ce_source', SOURCE],
    ['ce_ric', ric],
    ['content-type', 'text/plain'],
  ]
  return { key: ranName, value: `${ranName}_${event}`, headers }
}

/** As CloudEvents attributes, and bare where a bridge to RMR wants them. */
function headersOf(name: MessageName | 'SEND_INIT', { ric, e2t, ranName }: Receiver, isJson = false): Header[] {
  const headers: Header[] = [
    ['ce_type', messageType(name)],
    ['ce_source', SOURCE],
    ['ce_ric', ric],
  ]
  if (name !== 'SEND_INIT')
    headers.push(['ce_mtype', String(messageTypes[name])], ['mtype', String(messageTypes[name])])
  if (e2t !== undefined) headers.push(['ce_e2t', e2t])
  if (ranName !== undefined) headers.push(['ce_meid', ranName], ['meid', ranName])
  if (isJson) headers.push(['content-type', 'application/json'])
  return headers
}
