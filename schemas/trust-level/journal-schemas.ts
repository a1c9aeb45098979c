import type { AvroRecordSchema } from '../avro.js'
import { fields, list, nullable, recordsOf, text } from '../record-fields.js'
import { TRUST_LEVELS } from './journal-events.js'
import type { TrustLevelEvent } from './journal-events.js'

const namespace = 'pulsefold.trustlevel'

const record = recordsOf(namespace)

/** A level as of this version; a later version's newer symbol reads as NONE. */
export function trustLevelSchema(name: string): unknown {
  return { type: 'enum', name, namespace, symbols: TRUST_LEVELS, default: 'NONE' }
}

/** Properties as a list of name and value: Avro maps come back as plain objects, which lose `__proto__`. */
export function propertiesSchema(name: string, value: unknown = 'string'): unknown {
  return list(record(name, [...text('name'), { name: 'value', type: value }]))
}

export const dmiPluginNameFields = text(
  'dmiPlugin',
  'dmiDataPlugin',
  'dmiModelPlugin',
  'dmiDatajobsReadPlugin',
  'dmiDatajobsWritePlugin',
)

const pluginLevel = (name: string): AvroRecordSchema =>
  record(name, [
    ...text('plugin'),
    { name: 'trustLevel', type: trustLevelSchema(`${name}TrustLevel`) },
    ...fields('long', 'number', 'returnNumber', 'since'),
    ...fields('boolean', 'forgotten'),
  ])

const optionalText = fields(nullable('string'), 'alternateId', 'dataProducerIdentifier', 'cmHandleStatus')

/** The Avro records of the trust-level journal, by event type. (trust levels; `journal-events.ts`) */
export const trustLevelEventSchemas: Readonly<Record<TrustLevelEvent['type'], AvroRecordSchema>> = {
  HeartbeatReported: record('HeartbeatReported', [
    ...text('cmHandle'),
    { name: 'trustLevel', type: trustLevelSchema('HeartbeatTrustLevel') },
    ...fields(nullable('long'), 'eventTime'),
    {
      name: 'eventTimeSource',
      type: {
        type: 'enum',
        name: 'HeartbeatEventTimeSource',
        namespace,
        symbols: ['CE_TIME', 'RECORD', 'MALFORMED', 'ABSENT'],
      },
    },
    ...text('producer', 'eventType'),
  ]),
  DmiPluginRegistered: record('DmiPluginRegistered', text('plugin')),
  DmiPluginLevelBroadcast: pluginLevel('DmiPluginLevelBroadcast'),
  DmiPluginChecked: record('DmiPluginChecked', [
    ...text('plugin'),
    ...fields('boolean', 'up'),
    ...text('healthPath', 'reason'),
  ]),
  DmiPluginUseChanged: record('DmiPluginUseChanged', [
    ...text('plugin'),
    ...fields('int', 'partition'),
    ...fields('boolean', 'used'),
  ]),
  AlternateIdsClaimed: record('AlternateIdsClaimed', [
    { name: 'claims', type: list(record('AlternateIdClaim', text('alternateId', 'cmHandle'))) },
    ...text('claimId'),
  ]),
  AlternateIdSettled: record('AlternateIdSettled', [
    ...text('alternateId', 'cmHandle', 'claimId'),
    ...fields('boolean', 'held'),
  ]),
  AlternateIdQuestioned: record('AlternateIdQuestioned', text('alternateId', 'cmHandle', 'claimId')),
  CmHandlesRegistered: record('CmHandlesRegistered', [
    { name: 'plugins', type: record('RegisteredDmiPluginNames', dmiPluginNameFields) },
    { name: 'plugin', type: nullable(pluginLevel('RegisteredDmiPluginLevel')) },
    ...text('claimId'),
    { name: 'removed', type: list('string') },
    {
      name: 'created',
      type: list(
        record('CmHandleCreation', [
          ...text('cmHandle'),
          { name: 'publicProperties', type: propertiesSchema('CreatedPublicProperty') },
          { name: 'additionalProperties', type: propertiesSchema('CreatedAdditionalProperty') },
          ...text('moduleSetTag', 'alternateId', 'dataProducerIdentifier', 'cmHandleStatus'),
          { name: 'trustLevel', type: nullable(trustLevelSchema('CreatedTrustLevel')) },
        ]),
      ),
    },
    {
      name: 'updated',
      type: list(
        record('CmHandleUpdate', [
          ...text('cmHandle'),
          { name: 'publicProperties', type: nullable(propertiesSchema('UpdatedPublicProperty', nullable('string'))) },
          {
            name: 'additionalProperties',
            type: nullable(propertiesSchema('UpdatedAdditionalProperty', nullable('string'))),
          },
          ...optionalText,
        ]),
      ),
    },
    { name: 'upgraded', type: list(record('CmHandleUpgrade', text('cmHandle', 'moduleSetTag'))) },
  ]),
  DataSyncSet: record('DataSyncSet', [...text('cmHandle'), ...fields('boolean', 'dataSyncEnabled')]),
}
