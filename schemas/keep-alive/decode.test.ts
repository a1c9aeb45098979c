import t from 'tap'
import type { EventRecord } from '../cloudevents/cloud-event.js'
import { decodeE2tMessage } from './decode.js'
import type { E2tMessageDecoded } from './decode.js'

const RIC = 'AACCE'

function record(headers: Readonly<Record<string, string>>, data: unknown = null): EventRecord {
  const value = data === null ? null : Buffer.from(typeof data === 'string' ? data : JSON.stringify(data))
  return { value, headers: Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]), timestamp: 1 }
}

const cloudEvent = (
  type: string,
  data: unknown,
  attributes: Readonly<Record<string, string>> = {},
): E2tMessageDecoded =>
  decodeE2tMessage(
    record({ ce_specversion: '1.0', ce_id: 'i', ce_source: 's', ce_type: `org.oran.e2.${type}`, ...attributes }, data),
    RIC,
  )

const setup = {
  e2tAddress: 'a:1',
  ranName: 'ran',
  globalNbId: { plmnId: 'p', nbId: 'n' },
  nodeType: 'GNB',
  ranFunctions: [{ ranFunctionId: 1, ranFunctionRevision: 2, ranFunctionDefinition: 'd', ranFunctionOid: 'o' }],
  transactionId: 7,
}

t.test('messages become events, by type or by number, of the RIC that is named', async (t) => {
  const init = { ric: RIC, address: 'a:1', podName: 'pod', source: 's', eventId: 'i' }
  const data = { address: 'a:1', fqdn: 'f', pod_name: 'pod' }
  const cases: readonly (readonly [decoded: E2tMessageDecoded, type: string, event: object])[] = [
    [cloudEvent('E2_TERM_INIT', data), 'E2tInitReported', init],
    [cloudEvent('anything', data, { ce_mtype: '1100' }), 'E2tInitReported', init],
    [cloudEvent('E2_TERM_INIT', data, { ce_ric: 'BEEF0' }), 'E2tInitReported', { ...init, ric: 'BEEF0' }],
    [cloudEvent('E2_TERM_KEEP_ALIVE_RESP', data), 'KeepAliveAnswered', { ric: RIC, address: 'a:1' }],
    [cloudEvent('E2_TERM_INIT', data, { ce_mtype: '1102' }), 'KeepAliveAnswered', { ric: RIC, address: 'a:1' }],
    [
      cloudEvent('SCTP_CONNECTION_FAILURE', null, { ce_meid: 'ran' }),
      'RanConnectionLost',
      { ric: RIC, ranName: 'ran', source: 's', eventId: 'i' },
    ],
    [cloudEvent('SERVICE_UPDATE', 'no JSON', { ce_meid: 'ran' }), 'ServiceUpdated', { ric: RIC, ranName: 'ran' }],
    [
      cloudEvent('E2_SETUP_REQ', setup),
      'E2SetupRequested',
      { ric: RIC, address: 'a:1', ranName: 'ran', plmnId: 'p', nbId: 'n', nodeType: 'GNB', transactionId: '7' },
    ],
    [
      cloudEvent('E2_SETUP_REQ', { ...setup, ranName: undefined }, { ce_meid: 'm' }),
      'E2SetupRequested',
      { ranName: 'm' },
    ],
  ]
  for (const [decoded, type, event] of cases) t.match(decoded, { kind: 'event', event: { type, data: event } })
})

t.test('a record of an RMR bridge is taken without CloudEvents attributes', async (t) => {
  const lost = decodeE2tMessage(record({ mtype: '1080', meid: 'ran', src: 'a:1' }), RIC)
  t.match(lost, { event: { type: 'RanConnectionLost', data: { ranName: 'ran', source: 'a:1', eventId: '' } } })
  t.match(decodeE2tMessage(record({ mtype: '12004' }), RIC), { kind: 'skipped', reason: 'OTHER_MESSAGE_TYPE' })
})

t.test('HS-22 TS-06 what is not for us is skipped, and times in an answer are not read', async (t) => {
  t.match(cloudEvent('E2_RESET', {}), { kind: 'skipped', reason: 'OTHER_MESSAGE_TYPE' })
  t.match(cloudEvent('E2_TERM_INIT', {}, { ce_mtype: '12004' }), { kind: 'skipped' })
  const other = record({ ce_specversion: '1.0', ce_id: 'i', ce_source: 's', ce_type: 'org.onap.trust' }, {})
  t.match(decodeE2tMessage(other, RIC), { kind: 'skipped' })
  for (const address of ['', null, undefined]) {
    t.match(cloudEvent('E2_TERM_KEEP_ALIVE_RESP', { address }), { kind: 'skipped', reason: 'EMPTY_ADDRESS' })
  }
  for (const time of ['1710064800123456789', '1710064800']) {
    const answer = cloudEvent('E2_TERM_KEEP_ALIVE_RESP', `{"address":"a:1","timestamp":${time}}`, { ce_time: time })
    t.strictSame(answer, {
      kind: 'event',
      key: RIC,
      event: { type: 'KeepAliveAnswered', data: { ric: RIC, address: 'a:1' } },
    })
  }
})

t.test('what is wrong is refused, with its code', async (t) => {
  const cases: readonly (readonly [decoded: E2tMessageDecoded, code: string])[] = [
    [cloudEvent('E2_TERM_INIT', null), 'MALFORMED_JSON'],
    [cloudEvent('E2_TERM_INIT', '{'), 'MALFORMED_JSON'],
    [cloudEvent('E2_TERM_INIT', '[]'), 'NOT_AN_OBJECT'],
    [cloudEvent('E2_TERM_INIT', { address: 7 }), 'INVALID_E2T_ADDRESS'],
    [cloudEvent('E2_TERM_INIT', { address: 'a\u0000b' }), 'INVALID_E2T_ADDRESS'],
    [cloudEvent('E2_TERM_INIT', { address: 'a' }, { ce_ric: 'x'.repeat(65) }), 'INVALID_RIC'],
    [cloudEvent('E2_TERM_INIT', { address: 'a' }, { ce_id: '' }), 'BLANK_ATTRIBUTE'],
    [cloudEvent('SCTP_CONNECTION_FAILURE', null), 'MISSING_RAN_NAME'],
    [cloudEvent('SERVICE_UPDATE', null, { ce_meid: 'a\nb' }), 'INVALID_RAN_NAME'],
    [cloudEvent('E2_SETUP_REQ', { ...setup, ranName: undefined }), 'MISSING_RAN_NAME'],
    [cloudEvent('E2_SETUP_REQ', setup, { ce_meid: 'other' }), 'CONFLICTING_RAN_NAMES'],
    [cloudEvent('E2_SETUP_REQ', { ...setup, e2tAddress: undefined }), 'INVALID_E2T_ADDRESS'],
    [cloudEvent('E2_SETUP_REQ', { ...setup, globalNbId: { plmnId: 'p' } }), 'INVALID_SETUP'],
    [cloudEvent('E2_SETUP_REQ', { ...setup, nodeType: 'gnb' }), 'INVALID_SETUP'],
    [cloudEvent('E2_SETUP_REQ', { ...setup, ranFunctions: [{ ranFunctionId: 'x' }] }), 'INVALID_SETUP'],
    [cloudEvent('E2_SETUP_REQ', { ...setup, ranFunctions: {} }), 'INVALID_SETUP'],
  ]
  for (const [decoded, code] of cases) t.match(decoded, { kind: 'rejected', code })
})
