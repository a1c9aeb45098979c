import { cut } from '../../common/errors.js'
import { extensionOf } from '../cloudevents/cloud-event.js'
import type { EventRecord } from '../cloudevents/cloud-event.js'
import { decodeRecord } from '../cloudevents/record.js'
import { isJsonObject, parseJson, textOf } from '../json.js'
import type { KeepAliveEvent } from './journal-events.js'
import { inboundMessageOf, isE2Type } from './message-types.js'
import type { InboundMessage } from './message-types.js'
import { rejected } from '../input-errors.js'
import { isName, refusal } from './refusal.js'
import type { Refusal } from './refusal.js'
import { setupOf } from './setup.js'

/** What a record on the topic of E2T messages is. */
export type E2tMessageDecoded =
  | { readonly kind: 'event'; readonly key: string; readonly event: KeepAliveEvent }
  | { readonly kind: 'skipped'; readonly reason: string }
  | Refusal

/** A message with its envelope read, whichever it came in. */
interface Envelope {
  readonly message: InboundMessage
  readonly ric: string
  readonly meid: string
  readonly source: string
  /** Empty: none, so that a repeat cannot be told. */
  readonly id: string
  readonly data: Buffer | null
}

const RIC_LIMIT = 64

/**
 * A message of an E2 termination: a CloudEvent of a type `org.oran.e2.…`, or a record of an RMR bridge with the headers `mtype`,
 * `meid` and `src`. Times that it carries are not read: the journal's own count. An empty address, and messages that
 * are not for us, are skipped. (keep-alive, sections 4 and 9)
 */
export function decodeE2tMessage(record: EventRecord, configuredRic: string): E2tMessageDecoded {
  const envelope = isBridged(record) ? bridged(record, configuredRic) : cloudEvent(record, configuredRic)
  if ('kind' in envelope) return envelope
  const { ric, message } = envelope
  if (!isName(ric, RIC_LIMIT)) return refusal('INVALID_RIC', `ric is ${cut(ric)}`, 'ric')
  switch (message) {
    case 'E2_TERM_INIT':
    case 'E2_TERM_KEEP_ALIVE_RESP':
      return ofInstance(envelope)
    case 'E2_SETUP_REQ':
      return ofSetup(envelope)
    case 'SCTP_CONNECTION_FAILURE':
    case 'SERVICE_UPDATE':
      return ofRan(envelope)
  }
}

function isBridged({ headers }: EventRecord): boolean {
  let isNumbered = false
  for (const [name, value] of headers) {
    const lower = name.toLowerCase()
    if (lower.startsWith('ce_')) return false
    if (lower === 'content-type' && value.toString().startsWith('application/cloudevents')) return false
    if (lower === 'mtype') isNumbered = true
  }
  return isNumbered
}

function bridged({ value, headers }: EventRecord, configuredRic: string): Envelope | E2tMessageDecoded {
  const header = (wanted: string): string | undefined => {
    const found = headers.findLast(([name]) => name.toLowerCase() === wanted)
    return found === undefined ? undefined : (textOf(found[1]) ?? '')
  }
  const message = inboundMessageOf('', header('mtype') ?? '')
  if (message === undefined) return otherMessage
  const ric = header('ric') ?? configuredRic
  return { message, ric, meid: header('meid') ?? '', source: header('src') ?? '', id: header('id') ?? '', data: value }
}

function cloudEvent(record: EventRecord, configuredRic: string): Envelope | E2tMessageDecoded {
  const decoded = decodeRecord(record)
  if (!decoded.ok) return rejected(decoded.faults)
  const event = decoded.value
  if (!isE2Type(event.type)) return otherMessage
  const message = inboundMessageOf(event.type, extensionOf(event, 'mtype'))
  if (message === undefined) return otherMessage
  const { source, id, data } = event
  return {
    message,
    ric: extensionOf(event, 'ric') ?? configuredRic,
    meid: extensionOf(event, 'meid') ?? '',
    source,
    id,
    data,
  }
}

const otherMessage: E2tMessageDecoded = { kind: 'skipped', reason: 'OTHER_MESSAGE_TYPE' }

function ofInstance({ message, ric, source, id, data }: Envelope): E2tMessageDecoded {
  const parsed = parseJson(data ?? Buffer.alloc(0))
  if (!parsed.ok) return { kind: 'rejected', ...parsed.faults[0] }
  if (!isJsonObject(parsed.value)) return refusal('NOT_AN_OBJECT', 'the data is not a JSON object', 'data')
  const { address, pod_name: podName } = parsed.value
  if (address === undefined || address === null || address === '') return { kind: 'skipped', reason: 'EMPTY_ADDRESS' }
  if (typeof address !== 'string' || !isName(address)) {
    return refusal('INVALID_E2T_ADDRESS', `address is ${cut(address)}`, 'data.address')
  }
  if (message === 'E2_TERM_KEEP_ALIVE_RESP') {
    return { kind: 'event', key: ric, event: { type: 'KeepAliveAnswered', data: { ric, address } } }
  }
  const pod = typeof podName === 'string' && isName(podName) ? podName : ''
  const init = { ric, address, podName: pod, source, eventId: id }
  return { kind: 'event', key: ric, event: { type: 'E2tInitReported', data: init } }
}

function ofRan({ message, ric, meid, source, id }: Envelope): E2tMessageDecoded {
  if (meid === '') return refusal('MISSING_RAN_NAME', 'attribute meid is missing', 'meid')
  if (!isName(meid)) return refusal('INVALID_RAN_NAME', `meid is ${cut(meid)}`, 'meid')
  if (message === 'SERVICE_UPDATE') {
    return { kind: 'event', key: ric, event: { type: 'ServiceUpdated', data: { ric, ranName: meid } } }
  }
  const lost = { ric, ranName: meid, source, eventId: id }
  return { kind: 'event', key: ric, event: { type: 'RanConnectionLost', data: lost } }
}

function ofSetup({ ric, meid, data }: Envelope): E2tMessageDecoded {
  const parsed = parseJson(data ?? Buffer.alloc(0))
  if (!parsed.ok) return { kind: 'rejected', ...parsed.faults[0] }
  const setup = setupOf(parsed.value, meid)
  if ('kind' in setup) return setup
  return { kind: 'event', key: ric, event: { type: 'E2SetupRequested', data: { ric, ...setup } } }
}
