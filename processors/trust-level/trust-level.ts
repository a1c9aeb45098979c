import { decodeHeartbeat } from '../../schemas/trust-level/heartbeat.js'
import {
  deviceTrustLevelAvro,
  deviceTrustLevelJson,
  HEARTBEAT_TYPES,
} from '../../schemas/trust-level/heartbeat-schema.js'
import type { TrustLevelEvent } from '../../schemas/trust-level/journal-events.js'
import { trustLevelEventSchemas } from '../../schemas/trust-level/journal-schemas.js'
import type { SchemaRegistry } from '../../schemas/registry/schema-registry.js'
import type { Deadline, Effector, Processor, Reads } from '../../topology/processor.js'
import {
  alternateIdQuestioned,
  alternateIdsClaimed,
  alternateIdSettled,
  claimDue,
  deniedDue,
  readsOfClaims,
  readsOfQuestion,
  readsOfSettlement,
} from './alternate-ids.js'
import { counters } from './context.js'
import type { Context } from './context.js'
import { deadlineSubject } from './deadlines.js'
import type { DeadlineKind, DeadlineSubject } from './deadlines.js'
import { heartbeatReported, ownTimeOf, pendingLevelExpired, readsOfHeartbeat, tombstoneExpired } from './heartbeat.js'
import { noticesTo } from './notices.js'
import { checkDue, dmiPluginChecked, dmiPluginRegistered, dmiPluginUseChanged, forgetDue } from './plugin-home.js'
import { passDue, pluginLevelTold, readsOfPass } from './plugin-levels.js'
import { trustLevelQueries } from './queries/index.js'
import { cmHandlesRegistered, dataSyncSet, readsOfDataSync, readsOfRegistration } from './registration.js'
import type { TrustLevelSettings } from './settings.js'
import { trustLevelSubjects } from './subjects.js'
import { alternateIds, deniedClaims, tables, trust } from './tables.js'

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
        avro: deviceTrustLevelAvro,
        json: deviceTrustLevelJson,
        decode: (record) => decodeHeartbeat(record, registry),
      },
    ],
    outputs: settings.trustLevelNotices ? [noticesTo(settings.trustLevelNoticeTopic)] : [],
    tables,
    queries: Object.values(trustLevelQueries(journalTopic)),
    effectors,
    counters,
    settings,
    reads,
    evolve,
    readsOfDeadline,
    onDeadline,
    eventTime: ({ type, data }, { time, settings }) =>
      type === 'HeartbeatReported' ? ownTimeOf(data, time, settings.maxFutureSkewMs).eventTime : undefined,
    subjects: trustLevelSubjects,
  }
}

/** How one kind of event is folded; without `reads` it touches resident tables only. */
interface Fold<Data> {
  reads?(data: Data): Reads
  evolve(data: Data, context: Context): void
}

const folds: { readonly [Event in TrustLevelEvent as Event['type']]: Fold<Event['data']> } = {
  HeartbeatReported: { reads: readsOfHeartbeat, evolve: heartbeatReported },
  DmiPluginRegistered: { evolve: dmiPluginRegistered },
  DmiPluginLevelBroadcast: { evolve: pluginLevelTold },
  DmiPluginChecked: { evolve: dmiPluginChecked },
  DmiPluginUseChanged: { evolve: dmiPluginUseChanged },
  AlternateIdsClaimed: { reads: readsOfClaims, evolve: alternateIdsClaimed },
  AlternateIdSettled: { reads: readsOfSettlement, evolve: alternateIdSettled },
  AlternateIdQuestioned: { reads: readsOfQuestion, evolve: alternateIdQuestioned },
  CmHandlesRegistered: { reads: readsOfRegistration, evolve: cmHandlesRegistered },
  DataSyncSet: { reads: readsOfDataSync, evolve: dataSyncSet },
}

interface FoldOfDeadline {
  reads?(deadline: DeadlineSubject): Reads
  onDue(deadline: DeadlineSubject, context: Context): void
}

const ofTrust = ({ subject }: DeadlineSubject): Reads => ({ rows: [{ table: trust, key: subject }] })

const foldsOfDeadlines: Readonly<Record<DeadlineKind, FoldOfDeadline>> = {
  pending: { reads: ofTrust, onDue: pendingLevelExpired },
  tombstone: { reads: ofTrust, onDue: tombstoneExpired },
  announce: { reads: readsOfPass, onDue: passDue },
  check: { onDue: checkDue },
  forget: { onDue: forgetDue },
  claim: { reads: ({ subject }) => ({ rows: [{ table: alternateIds, key: subject }] }), onDue: claimDue },
  denied: { reads: ({ subject }) => ({ rows: [{ table: deniedClaims, key: subject }] }), onDue: deniedDue },
}

const NO_READS: Reads = { rows: [] }

function reads({ type, data }: TrustLevelEvent): Reads {
  return (folds[type] as Fold<unknown>).reads?.(data) ?? NO_READS
}

function evolve({ type, data }: TrustLevelEvent, context: Context): void {
  ;(folds[type] as Fold<unknown>).evolve(data, context)
}

function readsOfDeadline(deadline: Deadline): Reads {
  const subject = deadlineSubject(deadline)
  return foldsOfDeadlines[subject.kind].reads?.(subject) ?? NO_READS
}

function onDeadline(deadline: Deadline, context: Context): void {
  const subject = deadlineSubject(deadline)
  foldsOfDeadlines[subject.kind].onDue(subject, context)
}
