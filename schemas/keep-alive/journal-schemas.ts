import type { AvroRecordSchema } from '../avro.js'
import { fields, list, recordsOf, text } from '../record-fields.js'
import type { Field } from '../record-fields.js'
import { NODE_TYPES } from './journal-events.js'
import type { KeepAliveEvent } from './journal-events.js'

const namespace = 'pulsefold.keepalive'

const record = recordsOf(namespace)
const nodeType = (name: string): Field => ({
  name: 'nodeType',
  type: { type: 'enum', name, namespace, symbols: NODE_TYPES },
})

/** The Avro records of the keep-alive journal, by event type. (`journal-events.ts`) */
export const keepAliveEventSchemas: Readonly<Record<KeepAliveEvent['type'], AvroRecordSchema>> = {
  E2tInitReported: record('E2tInitReported', text('ric', 'address', 'podName', 'source', 'eventId')),
  KeepAliveAnswered: record('KeepAliveAnswered', text('ric', 'address')),
  RanConnectionLost: record('RanConnectionLost', text('ric', 'ranName', 'source', 'eventId')),
  E2SetupRequested: record('E2SetupRequested', [
    ...text('ric', 'address', 'ranName', 'plmnId', 'nbId'),
    nodeType('SetupNodeType'),
    {
      name: 'ranFunctions',
      type: list(
        record('RanFunction', [
          ...fields('long', 'ranFunctionId', 'ranFunctionRevision'),
          ...text('ranFunctionDefinition', 'ranFunctionOid'),
        ]),
      ),
    },
    ...text('transactionId'),
  ]),
  ServiceUpdated: record('ServiceUpdated', text('ric', 'ranName')),
  KeepAliveRequestSent: record('KeepAliveRequestSent', [...text('ric'), ...fields('long', 'tick', 'askedAt', 'epoch')]),
  E2tMessagesTakenIn: record('E2tMessagesTakenIn', [
    ...fields('long', 'asOf'),
    {
      name: 'inputs',
      type: list(
        record('InputTakenIn', [...text('topic'), ...fields('int', 'partition'), ...fields('long', 'offset')]),
      ),
    },
  ]),
  RoutingManagerCalled: record('RoutingManagerCalled', [
    ...text('ric', 'call', 'effectId'),
    ...fields('boolean', 'succeeded'),
    ...text('outcome'),
  ]),
  PodFound: record('PodFound', text('ric', 'address', 'effectId', 'uid')),
  PodDeleted: record('PodDeleted', text('ric', 'address', 'effectId', 'outcome')),
  RicParametersSet: record('RicParametersSet', [...text('ric'), ...fields('boolean', 'enableRic')]),
  RedButtonPressed: record('RedButtonPressed', text('ric')),
  RanHealthAsked: record('RanHealthAsked', [...text('ric'), ...fields(['null', list('string')], 'ranNames')]),
  EnbAdded: record('EnbAdded', [
    ...text('ric', 'ranName', 'plmnId', 'nbId', 'ip'),
    ...fields('long', 'port'),
    ...text('enb'),
  ]),
  NodebUpdated: record('NodebUpdated', [
    ...text('ric', 'ranName'),
    nodeType('UpdatedNodeType'),
    ...text('configuration'),
  ]),
  EnbDeleted: record('EnbDeleted', text('ric', 'ranName')),
}
