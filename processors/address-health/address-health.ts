import { decodeCallOutcome } from '../../schemas/address-health/call-outcome.js'
import {
  callOutcomeAvro,
  callOutcomeJson,
  CALL_OUTCOME_TYPE,
} from '../../schemas/address-health/call-outcome-schema.js'
import type { AddressHealthEvent } from '../../schemas/address-health/journal-events.js'
import { addressHealthEventSchemas, parameterFields } from '../../schemas/address-health/journal-schemas.js'
import type { SchemaRegistry } from '../../schemas/registry/schema-registry.js'
import type { Deadline, Effector, Processor, Reads } from '../../topology/processor.js'
import { alarmsTo, termBegun } from './alarms.js'
import { alarmPosted, alertDue } from './alerts.js'
import { addressAdded, addressOperated, platformCreated, platformDeleted, platformUpdated } from './commands.js'
import { counters } from './context.js'
import type { Context } from './context.js'
import { deadlineSubject } from './deadlines.js'
import { gauges } from './gauges.js'
import { closePlatform, openPlatform } from './open-platform.js'
import { callOutcomeReported } from './outcome.js'
import { addressHealthQueries } from './queries/index.js'
import { retryRequested } from './retries.js'
import { newSelectionMemory } from './selection.js'
import type { AddressHealthSettings } from './settings.js'
import { settleAddress } from './settle.js'
import { subjects } from './subjects.js'
import { tables } from './tables.js'

export interface AddressHealthOptions {
  readonly settings: AddressHealthSettings
  readonly callOutcomeTopic: string
  /** Without one Avro outcomes are refused. */
  readonly registry?: SchemaRegistry
  /** 0 to 1, for LOAD_SHARE; queries use it, folds do not. */
  readonly random: () => number
  /** Tells Alertmanager. */
  readonly effectors: readonly Effector[]
}

/** External address health: outcomes of calls, states of addresses, retries in calls, alarms. (address health) */
export function addressHealth(options: AddressHealthOptions): Processor<AddressHealthEvent, AddressHealthSettings> {
  const { settings, callOutcomeTopic, registry, random, effectors } = options
  return {
    name: 'address-health',
    foldVersion: 1,
    store: 'address-health',
    events: addressHealthEventSchemas,
    inputs: [
      {
        topic: callOutcomeTopic,
        types: [CALL_OUTCOME_TYPE],
        avro: callOutcomeAvro,
        json: callOutcomeJson,
        decode: (record) => decodeCallOutcome(record, registry),
      },
    ],
    outputs: [alarmsTo(settings.alarmTopic)],
    tables,
    queries: Object.values(addressHealthQueries),
    memory: () => newSelectionMemory(random),
    effectors,
    counters,
    gauges,
    settings,
    reads: () => NO_READS,
    evolve,
    readsOfDeadline: () => NO_READS,
    onDeadline,
    onTerm: termBegun,
    subjects,
    parameters: parameterFields('').map(({ name }) => name),
  }
}

/** All tables are resident. */
const NO_READS: Reads = { rows: [] }

type Folds = {
  readonly [Event in AddressHealthEvent as Event['type']]: (data: Event['data'], context: Context) => void
}

const folds: Folds = {
  CallOutcomeReported: callOutcomeReported,
  PlatformCreated: platformCreated,
  PlatformUpdated: platformUpdated,
  PlatformDeleted: platformDeleted,
  AddressAdded: addressAdded,
  AddressOperated: addressOperated,
  RetryRequested: retryRequested,
  AlarmPosted: alarmPosted,
}

function evolve({ type, data }: AddressHealthEvent, context: Context): void {
  ;(folds[type] as (data: unknown, context: Context) => void)(data, context)
}

/** A tick does what is due by then; what it was armed for may be over. */
function onDeadline(deadline: Deadline, context: Context): void {
  const subject = deadlineSubject(deadline)
  if (subject.kind === 'alert') {
    alertDue(subject.alarm, context)
    return
  }
  const platform = openPlatform(subject.platform, context)
  const position = platform?.row.addresses.findIndex(({ id }) => id === subject.addressId) ?? -1
  if (platform === undefined || position === -1) return
  settleAddress(platform, position, context)
  closePlatform(platform, context)
}
