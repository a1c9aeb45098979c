import type { AvroRecordSchema } from '../avro.js'
import { fields, nullable, recordsOf, text } from '../record-fields.js'
import type { Field } from '../record-fields.js'
import { ADDRESS_OPERATIONS, CALL_RESULTS, SELECTION_MODES } from './journal-events.js'
import type { AddressHealthEvent } from './journal-events.js'

const namespace = 'pulsefold.addresshealth'

const record = recordsOf(namespace)
const words = (name: string, symbols: readonly string[]): unknown => ({ type: 'enum', name, namespace, symbols })
const asIs = (type: unknown): unknown => type

/** A platform's parameters; `ofType` makes each of them nullable, or leaves it. */
export const parameterFields = (modeName: string, ofType: (type: unknown) => unknown = asIs): readonly Field[] => [
  ...fields(ofType(words(modeName, SELECTION_MODES)), 'selectionMode'),
  ...fields(ofType('long'), 'detectInterval'),
  ...fields(ofType('double'), 'detectThreshold'),
  ...fields(ofType('long'), 'retryInterval'),
  ...fields(ofType('int'), 'retryAttempts', 'minCalls'),
  ...fields(ofType('boolean'), 'panicMode'),
]

/** The Avro records of the address-health journal, by event type. (address health; `journal-events.ts`) */
export const addressHealthEventSchemas: Readonly<Record<AddressHealthEvent['type'], AvroRecordSchema>> = {
  CallOutcomeReported: record('CallOutcomeReported', [
    ...text('platform', 'address'),
    ...fields(words('ReportedResult', CALL_RESULTS), 'result'),
    ...text('cause', 'callId', 'attemptId'),
    ...fields(nullable('long'), 'eventTime'),
    ...fields(words('OutcomeEventTimeSource', ['CE_TIME', 'RECORD', 'MALFORMED', 'ABSENT']), 'eventTimeSource'),
    ...text('producer', 'eventId'),
  ]),
  PlatformCreated: record('PlatformCreated', [
    ...text('platform'),
    ...parameterFields('CreatedSelectionMode'),
    {
      name: 'addresses',
      type: { type: 'array', items: record('CreatedAddress', [...text('address'), ...fields('boolean', 'active')]) },
    },
  ]),
  PlatformUpdated: record('PlatformUpdated', [
    ...text('platform'),
    ...parameterFields('UpdatedSelectionMode', nullable),
  ]),
  PlatformDeleted: record('PlatformDeleted', text('platform')),
  AddressAdded: record('AddressAdded', [
    ...text('platform', 'address'),
    ...fields('boolean', 'active'),
    ...fields(nullable('int'), 'position'),
  ]),
  AddressOperated: record('AddressOperated', [
    ...text('platform'),
    ...fields('int', 'position'),
    ...fields(words('AddressOperation', ADDRESS_OPERATIONS), 'operation'),
    ...fields(nullable('string'), 'expected'),
  ]),
  RetryRequested: record('RetryRequested', [...text('platform'), ...fields('int', 'addressId'), ...text('callId')]),
  AlarmPosted: record('AlarmPosted', [...text('alarm'), ...fields('boolean', 'posted'), ...text('reason')]),
}
