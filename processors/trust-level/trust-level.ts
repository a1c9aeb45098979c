import { assertNever } from '../../common/errors.js'
import { decodeHeartbeat } from '../../schemas/trust-level/heartbeat.js'
import { HEARTBEAT_TYPES } from '../../schemas/trust-level/heartbeat-schema.js'
import type { TrustLevelEvent } from '../../schemas/trust-level/journal-events.js'
import { trustLevelEventSchemas } from '../../schemas/trust-level/journal-schemas.js'
import type { SchemaRegistry } from '../../schemas/registry/schema-registry.js'
import type { Effector, Processor, Reads } from '../../topology/processor.js'
import { alternateIdQuestioned, alternateIdSettled, alternateIdsClaimed, claimDue, deniedDue } from './alternate-ids.js'
import { counters } from './context.js'
import { parseDeadlineId } from './deadlines.js'
import { heartbeatReported, pendingLevelExpired, readsOfHeartbeat, tombstoneExpired } from './heartbeat.js'
import { inventoryEvents } from './notices.js'
import { checkDue, dmiPluginChecked, dmiPluginRegistered, dmiPluginUseChanged, forgetDue } from './plugin-home.js'
import { passDue, pluginLevelTold, readsOfPass } from './plugin-levels.js'
import { alternateIdQuery, cmHandleQuery } from './queries/cm-handle.js'
import { dmiPluginsQuery } from './queries/dmi-plugins.js'
import { searchQuery } from './queries/search.js'
import { cmHandlesRegistered, dataSyncSet, readsOfRegistration } from './registration.js'
import type { TrustLevelSettings } from './settings.js'
import { alternateIds, cmHandles, deniedClaims, tables, trust } from './tables.js'

export interface TrustLevelOptions {
  readonly settings: TrustLevelSettings
  readonly heartbeatTopic: string
  /** Topic of this domain's journal, for the positions in evidence. */
  readonly journalTopic: string
  /** Without one Avro heartbeats are refused. */
  readonly registry?: SchemaRegistry
  /** Health checks of DMI plugins. */
  readonly effectors: readonly Effector[]
}

const NO_READS: Reads = { rows: [] }

/** Trust levels of cm handles: reports of devices, health of their DMI plugins, registrations. (trust levels) */
export function trustLevel(options: TrustLevelOptions): Processor<TrustLevelEvent, TrustLevelSettings> {
  const { settings, heartbeatTopic, journalTopic, registry, effectors } = options
  return {
    name: 'trust-level',
    foldVersion: 1,
    store: 'trust-level',
    events: trustLevelEventSchemas,
    inputs: [
      {
        topic: heartbeatTopic,
        types: HEARTBEAT_TYPES,
        decode: (record) => decodeHeartbeat(record, registry),
      },
    ],
    outputs: settings.trustLevelNotices ? [inventoryEvents] : [],
    tables,
    queries: [cmHandleQuery(journalTopic), alternateIdQuery, searchQuery, dmiPluginsQuery],
    effectors,
    counters,
    settings,
    reads,
    evolve,
    readsOfDeadline,
    onDeadline,
  }
}

type TrustLevelProcessor = Processor<TrustLevelEvent, TrustLevelSettings>

const reads: TrustLevelProcessor['reads'] = (event) => {
  switch (event.type) {
    case 'HeartbeatReported':
      return readsOfHeartbeat(event.data)
    case 'CmHandlesRegistered':
      return readsOfRegistration(event.data)
    case 'DataSyncSet':
      return { rows: [{ table: cmHandles, key: event.data.cmHandle }] }
    case 'AlternateIdsClaimed':
      return { rows: event.data.claims.map(({ alternateId }) => ({ table: alternateIds, key: alternateId })) }
    case 'AlternateIdSettled':
      return { rows: [{ table: alternateIds, key: event.data.alternateId }] }
    case 'AlternateIdQuestioned': {
      const { cmHandle, claimId } = event.data
      return {
        rows: [
          { table: cmHandles, key: cmHandle },
          { table: deniedClaims, key: claimId },
        ],
      }
    }
    case 'DmiPluginRegistered':
    case 'DmiPluginChecked':
    case 'DmiPluginUseChanged':
    case 'DmiPluginLevelBroadcast':
      return NO_READS
    default:
      return assertNever(event)
  }
}

const evolve: TrustLevelProcessor['evolve'] = (event, context) => {
  switch (event.type) {
    case 'HeartbeatReported':
      return heartbeatReported(event.data, context)
    case 'CmHandlesRegistered':
      return cmHandlesRegistered(event.data, context)
    case 'DataSyncSet':
      return dataSyncSet(event.data, context)
    case 'AlternateIdsClaimed':
      return alternateIdsClaimed(event.data, context)
    case 'AlternateIdSettled':
      return alternateIdSettled(event.data, context)
    case 'AlternateIdQuestioned':
      return alternateIdQuestioned(event.data, context)
    case 'DmiPluginRegistered':
      return dmiPluginRegistered(event.data, context)
    case 'DmiPluginChecked':
      return dmiPluginChecked(event.data, context)
    case 'DmiPluginUseChanged':
      return dmiPluginUseChanged(event.data, context)
    case 'DmiPluginLevelBroadcast':
      return pluginLevelTold(event.data, context)
    default:
      return assertNever(event)
  }
}

const readsOfDeadline: TrustLevelProcessor['readsOfDeadline'] = (deadline) => {
  const { kind, subject, rest } = parseDeadlineId(deadline)
  switch (kind) {
    case 'pending':
    case 'tombstone':
      return { rows: [{ table: trust, key: subject }] }
    case 'announce':
      return readsOfPass(subject, rest)
    case 'claim':
      return { rows: [{ table: alternateIds, key: subject }] }
    case 'denied':
      return { rows: [{ table: deniedClaims, key: subject }] }
    case 'check':
    case 'forget':
      return NO_READS
    default:
      return assertNever(kind)
  }
}

const onDeadline: TrustLevelProcessor['onDeadline'] = (deadline, context) => {
  const { kind, subject } = parseDeadlineId(deadline)
  switch (kind) {
    case 'pending':
      return pendingLevelExpired(subject, deadline.due, context)
    case 'tombstone':
      return tombstoneExpired(subject, deadline.due, context)
    case 'announce':
      return passDue(subject, context)
    case 'claim':
      return claimDue(subject, deadline.due, context)
    case 'denied':
      return deniedDue(subject, context)
    case 'check':
      return checkDue(subject, deadline.due, context)
    case 'forget':
      return forgetDue(subject, deadline.due, context)
    default:
      return assertNever(kind)
  }
}
