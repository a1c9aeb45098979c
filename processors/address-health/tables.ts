import { avroRowCodec } from '../../schemas/avro.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import { ADDRESS_STATES } from '../../schemas/address-health/journal-events.js'
import type { AddressState, PlatformParameters } from '../../schemas/address-health/journal-events.js'
import { parameterFields } from '../../schemas/address-health/journal-schemas.js'
import type { Table } from '../../topology/processor.js'
import { windowCodec } from './window-row.js'
import type { WindowRow } from './window-row.js'

/** Between the parts of a key; no name has it. */
export const SEPARATOR = '\u0000'

/** An address of a platform; its position is its place in the list. */
export interface AddressRow {
  /** Stays when positions shift; never given again in its platform. */
  readonly id: number
  readonly address: string
  readonly state: AddressState
  /** Journal time of the last move, ms. */
  readonly since: number
  /** Where the windows are counted from; moved by `since` and by a change of `detectInterval`. */
  readonly windowsFrom: number
  /** The interval that failed it last: the alarm's counts. */
  readonly failed: number
  readonly calls: number
  /** How often its alarm was raised. */
  readonly raised: number
  /** FAILED: the last retry's start, or when it failed; the next is due `retryInterval` later. */
  readonly retryFrom: number
  /** The retry under way; empty: none. */
  readonly attemptId: string
  /** When the retry under way counts as failed; its deadline is armed. 0: none. */
  readonly attemptDue: number
  /** Successful retries in a row. */
  readonly successes: number
}

export interface PlatformRow extends PlatformParameters {
  readonly addresses: readonly AddressRow[]
  readonly nextAddressId: number
  /** Journal time since which no address is ACTIVE and one is FAILED; 0: it is not so. */
  readonly noAddressSince: number
}

/** Calls of a window beyond those that it remembers. */
export interface OverflowRow {
  /** Of the window. */
  readonly end: number
  readonly calls: number
  readonly failed: number
}

/** What Alertmanager has to be told of an alarm, until it knows that it is cleared. */
export interface AlertRow {
  readonly platform: string
  /** Empty: the platform's own alarm. */
  readonly address: string
  readonly raised: boolean
  readonly startsAt: number
  /** 0: it stands. */
  readonly endsAt: number
  readonly text: string
  /** The effect owed; empty: none. */
  readonly effectId: string
  /** When it is told again; its deadline is armed. 0: an effect is owed. */
  readonly due: number
}

type Field = AvroRecordSchema['fields'][number]

const namespace = 'pulsefold.addresshealth'
const schema = (name: string, fields: readonly Field[]): AvroRecordSchema => ({
  type: 'record',
  name,
  namespace,
  fields,
})
const fields = (type: unknown, ...names: readonly string[]): readonly Field[] => names.map((name) => ({ name, type }))

/** By name. Kept in memory whole: a selection is a read of it. */
export const platforms: Table<PlatformRow> = {
  name: 'platforms',
  resident: true,
  codec: avroRowCodec<PlatformRow>(
    schema('Platform', [
      ...parameterFields('SelectionMode'),
      {
        name: 'addresses',
        type: {
          type: 'array',
          items: schema('Address', [
            ...fields('int', 'id'),
            ...fields('string', 'address'),
            { name: 'state', type: { type: 'enum', name: 'AddressState', symbols: ADDRESS_STATES } },
            ...fields('long', 'since', 'windowsFrom', 'failed', 'calls', 'raised', 'retryFrom'),
            ...fields('string', 'attemptId'),
            ...fields('long', 'attemptDue'),
            ...fields('int', 'successes'),
          ]),
        },
      },
      ...fields('int', 'nextAddressId'),
      ...fields('long', 'noAddressSince'),
    ]),
  ),
}

/** Two rows an address, by turns: the newest window that has calls, and the one before it. */
export const windows: Table<WindowRow> = { name: 'windows', resident: true, codec: windowCodec }

export const overflows: Table<OverflowRow> = {
  name: 'overflows',
  resident: true,
  codec: avroRowCodec<OverflowRow>(schema('Overflow', fields('long', 'end', 'calls', 'failed'))),
}

/** By the key of the alarm. */
export const alerts: Table<AlertRow> = {
  name: 'alerts',
  resident: true,
  codec: avroRowCodec<AlertRow>(
    schema('Alert', [
      ...fields('string', 'platform', 'address'),
      ...fields('boolean', 'raised'),
      ...fields('long', 'startsAt', 'endsAt'),
      ...fields('string', 'text', 'effectId'),
      ...fields('long', 'due'),
    ]),
    ['effectId'],
  ),
}

/** In order of declaration, which fixes their key spaces: new ones go to the end. */
export const tables: readonly Table<unknown>[] = [platforms, windows, overflows, alerts]
