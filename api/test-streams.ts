import { manualClock } from '../common/manual-clock.js'
import type {
  AlternateIdLookUp,
  CmHandleLookUp,
  CmHandleView,
  DmiPluginsPage,
  ReferenceLookUp,
  SearchArguments,
  SearchPage,
} from '../processors/trust-level/views.js'
import type * as events from '../schemas/trust-level/journal-events.js'
import { countingProcessor } from '../topology/counting-processor.js'
import { memoryProvider } from '../state-stores/memory/provider.js'
import { openEmbeddedLogAt } from '../topology/log/embedded/embedded-log.js'
import type { EmbeddedLog } from '../topology/log/embedded/embedded-log.js'
import { partitionOf } from '../topology/partitioner.js'
import type { JournalEvent, Processor, Query } from '../topology/processor.js'
import type {
  CommandOptions,
  CommandResult,
  Demand,
  IngestEvent,
  QueryFailure,
  QueryResult,
  RestartResult,
  SourceView,
  Streams,
} from '../topology/streams.js'

/** An in-memory stand-in for the running topology that knows just enough of trust levels to answer HTTP. */
export interface TestStreams extends Streams {
  readonly log: EmbeddedLog
  readonly handles: Map<string, CmHandleView>
  readonly alternateIds: Map<string, string>
  readonly pluginLevels: Map<string, events.TrustLevel>
  readonly pending: Map<string, number>
  readonly commands: { readonly to: object; readonly event: JournalEvent; readonly options: CommandOptions }[]
  readonly ingested: { readonly domain: string; readonly events: readonly IngestEvent[] }[]
  readonly demands: Demand[]
  /** Queries that have begun and not ended. */
  openQueries: number
  queries: number
  /** When set, what queries and commands answer instead. */
  queryFailure: QueryFailure | null
  commandFailure: ((event: JournalEvent) => 'outcomeOpen' | 'unavailable' | null) | null
  ingestFailure: Error | null
  ready: boolean
  /** What answers of queries come from. */
  copy: { readonly role: 'active' | 'standby'; readonly stalenessMs: number }
  inputs: readonly SourceView[]
  readonly restarts: object[]
  restartResult: RestartResult
  /** Waited for in each query and command; for slow requests. */
  hold: () => Promise<void>
}

export const TEST_TIME = Date.UTC(2026, 10, 30, 6, 26)
const JOURNAL = 'test-trust-level-journal'

/** A domain of the name that routes ask, which takes no events. */
const standIn: Processor = { ...(countingProcessor as unknown as Processor), name: 'trust-level', inputs: [] }

export async function testStreams(processors: readonly Processor[] = [standIn], partitions = 3): Promise<TestStreams> {
  let incarnations = 0
  let offset = 0
  const log = await openEmbeddedLogAt(memoryProvider(), 'log', {
    clock: manualClock(TEST_TIME),
    newIncarnation: () => `incarnation-${++incarnations}`,
    onCleanError: () => undefined,
  })
  const position = (partition: number): { topic: string; partition: number; offset: number } => ({
    topic: JOURNAL,
    partition,
    offset: ++offset,
  })

  const streams: TestStreams = {
    processors,
    log,
    handles: new Map(),
    alternateIds: new Map(),
    pluginLevels: new Map(),
    pending: new Map(),
    commands: [],
    ingested: [],
    demands: [],
    openQueries: 0,
    queries: 0,
    queryFailure: null,
    commandFailure: null,
    ingestFailure: null,
    ready: true,
    copy: { role: 'active', stalenessMs: 0 },
    inputs: [],
    restarts: [],
    restartResult: { ok: true, incarnation: 'x+2', from: 7 },
    hold: () => Promise.resolve(),
    journal: () => ({ topic: JOURNAL, partitions }),
    query: (domain, asked, key, args, demand) =>
      streams.queryPartition(domain, asked, partitionOf(key, partitions), args, demand),
    async queryPartition<Arguments, Result>(
      _domain: string,
      asked: Query<Arguments, Result>,
      partition: number,
      args: Arguments,
      demand: Demand = {},
    ): Promise<QueryResult<Result>> {
      streams.queries++
      streams.openQueries++
      streams.demands.push(demand)
      await streams.hold()
      streams.openQueries--
      if (streams.queryFailure !== null) {
        const message = 'broker kafka-7.internal:9092 in /var/lib/data'
        return { ok: false, reason: streams.queryFailure, message, retryAfterMs: 1500 }
      }
      const result = answer(streams, partitions, asked.name, partition, args) as Result
      return { ok: true, result, position: position(partition), ...streams.copy }
    },
    queryAll: (domain, asked, args, demand) =>
      Promise.all([...Array(partitions).keys()].map((p) => streams.queryPartition(domain, asked, p, args, demand))),
    async ingest(domain, ingested) {
      await streams.hold()
      if (streams.ingestFailure !== null) throw streams.ingestFailure
      streams.ingested.push({ domain, events: ingested })
      return ingested.map(({ key }) => ({ ...position(partitionOf(key, partitions)), index: 0 }))
    },
    async command<Answer>(
      _domain: string,
      to: { readonly key: string } | { readonly partition: number },
      event: JournalEvent,
      options: CommandOptions,
    ): Promise<CommandResult<Answer>> {
      streams.commands.push({ to, event, options })
      await streams.hold()
      const reason = streams.commandFailure?.(event) ?? null
      const message = 'broker kafka-7.internal:9092 in /var/lib/data'
      if (reason !== null) return { ok: false, reason, message, retryAfterMs: 1000 }
      const partition = 'partition' in to ? to.partition : partitionOf(to.key, partitions)
      return { ok: true, answer: fold(streams, event) as Answer, position: position(partition) }
    },
    sources: () => streams.inputs,
    restartSource: (source, act) => {
      streams.restarts.push({ ...source, ...act })
      return Promise.resolve(streams.restartResult)
    },
    readiness: () => ({
      ready: streams.ready,
      reasons: streams.ready ? [] : ['task trust-level/1 is restoring'],
      restoring: [],
    }),
  }
  return streams
}

function answer(streams: TestStreams, partitions: number, name: string, partition: number, args: unknown): unknown {
  switch (name) {
    case 'cm-handle':
      return lookUp(streams, (args as { cmHandle: string }).cmHandle)
    case 'alternate-id':
      return {
        cmHandle: streams.alternateIds.get((args as { alternateId: string }).alternateId) ?? null,
      } satisfies AlternateIdLookUp
    case 'reference': {
      const { reference } = args as { reference: string }
      const byId = lookUp(streams, reference)
      return { byId, byAlternateId: streams.alternateIds.get(reference) ?? null } satisfies ReferenceLookUp
    }
    case 'search':
      return search(streams, partitions, partition, args as SearchArguments)
    default:
      return plugins(streams, partitions, partition)
  }
}

function lookUp(streams: TestStreams, cmHandle: string): CmHandleLookUp {
  const handle = streams.handles.get(cmHandle)
  if (handle === undefined) return { found: false, pendingSince: streams.pending.get(cmHandle) ?? null }
  const plugin = handle.dmiDataPlugin === '' ? handle.dmiPlugin : handle.dmiDataPlugin
  const evidence = {
    ownLevel: handle.trustLevel,
    ownSince: TEST_TIME,
    plugin,
    pluginLevel: streams.pluginLevels.get(plugin) ?? null,
    pluginSince: null,
    lastHeartbeat: null,
    decidedBy: { topic: JOURNAL, partition: 1, offset: 42 },
  }
  return { found: true, handle, evidence }
}

function search(streams: TestStreams, partitions: number, partition: number, args: SearchArguments): SearchPage {
  const hits = [...streams.handles.values()]
    .filter((view) => partitionOf(view.cmHandle, partitions) === partition && matches(view, args))
    .sort((a, b) => (a.cmHandle < b.cmHandle ? -1 : 1))
    .filter((view) => args.after === undefined || view.cmHandle > args.after)
  const page = hits.slice(0, args.limit)
  const last = page.length < hits.length ? (page.at(-1)?.cmHandle ?? null) : null
  if (args.fields === 'view') return { texts: [], views: page, last }
  const texts = page.map((view) => (args.fields === 'id' || view.alternateId === '' ? view.cmHandle : view.alternateId))
  return { texts, views: [], last }
}

function matches(view: CmHandleView, { conditions }: SearchArguments): boolean {
  return conditions.every((condition) => {
    switch (condition.kind) {
      case 'trustLevel':
        return view.trustLevel === condition.level
      case 'publicProperties':
        return condition.properties.every(([name, value]) => view.publicProperties[name] === value)
      case 'additionalProperties':
        return condition.properties.every(([name, value]) => view.additionalProperties[name] === value)
      case 'dmiPlugin':
        return [view.dmiPlugin, view.dmiDataPlugin, view.dmiModelPlugin].includes(condition.name)
      case 'leaf':
        return condition.leaf === 'state/cm-handle-state'
          ? condition.values.includes('READY')
          : condition.leaf === 'alternate-id' && condition.values.includes(view.alternateId)
      case 'publicProperty':
        return condition.value === null
          ? Object.hasOwn(view.publicProperties, condition.name)
          : view.publicProperties[condition.name] === condition.value
      case 'nothing':
        return false
    }
  })
}

function plugins(streams: TestStreams, partitions: number, partition: number): DmiPluginsPage {
  const cmHandles: Record<string, number> = {}
  for (const view of streams.handles.values()) {
    if (partitionOf(view.cmHandle, partitions) === partition) {
      cmHandles[view.dmiPlugin] = (cmHandles[view.dmiPlugin] ?? 0) + 1
    }
  }
  const homes = [...streams.pluginLevels].filter(([plugin]) => partitionOf(plugin, partitions) === partition)
  return {
    cmHandles,
    plugins: homes.map(([plugin, trustLevel]) => ({
      plugin,
      trustLevel,
      since: TEST_TIME,
      lastCheck: null,
      healthPath: '',
      reason: 'not checked yet',
    })),
  }
}

function fold(streams: TestStreams, event: JournalEvent): unknown {
  switch (event.type) {
    case 'DmiPluginRegistered': {
      const { plugin } = event.data as events.DmiPluginRegistered
      streams.pluginLevels.set(plugin, 'COMPLETE')
      const broadcast = {
        plugin,
        trustLevel: 'COMPLETE',
        number: 1,
        returnNumber: 0,
        since: TEST_TIME,
        forgotten: false,
      }
      return { plugin: broadcast }
    }
    case 'AlternateIdsClaimed':
      return claim(streams, event.data as events.AlternateIdsClaimed)
    case 'CmHandlesRegistered':
      return register(streams, event.data as events.CmHandlesRegistered)
    default:
      return setDataSync(streams, event.data as events.DataSyncSet)
  }
}

function claim(streams: TestStreams, { claims }: events.AlternateIdsClaimed): events.AlternateIdsAnswer {
  const refused = claims.filter(({ alternateId, cmHandle }) => {
    const holder = streams.alternateIds.get(alternateId)
    if (holder === undefined) streams.alternateIds.set(alternateId, cmHandle)
    return holder !== undefined && holder !== cmHandle
  })
  return { refused }
}

function register(streams: TestStreams, data: events.CmHandlesRegistered): events.CmHandlesAnswer {
  const failed = { failedCreated: [], failedUpdated: [], failedRemoved: [], failedUpgraded: [] } as Record<
    string,
    events.RegistrationFailure[]
  >
  const notFound = (cmHandle: string): events.RegistrationFailure => ({
    cmHandle,
    errorCode: '100',
    errorText: 'cm handle reference(s) not found',
  })
  for (const cmHandle of data.removed) {
    const view = streams.handles.get(cmHandle)
    if (view === undefined) failed['failedRemoved']?.push(notFound(cmHandle))
    else {
      streams.handles.delete(cmHandle)
      streams.alternateIds.delete(view.alternateId)
    }
  }
  for (const { trustLevel, ...creation } of data.created) {
    if (streams.handles.has(creation.cmHandle)) {
      const errorText = 'cm-handle already exists'
      failed['failedCreated']?.push({ cmHandle: creation.cmHandle, errorCode: '109', errorText })
    } else {
      streams.handles.set(creation.cmHandle, {
        ...creation,
        publicProperties: asObject(creation.publicProperties),
        additionalProperties: asObject(creation.additionalProperties),
        ...data.plugins,
        dataSyncEnabled: false,
        lastUpdateTime: TEST_TIME,
        trustLevel: trustLevel ?? 'COMPLETE',
      })
    }
  }
  for (const update of data.updated) {
    const view = streams.handles.get(update.cmHandle)
    if (view === undefined) failed['failedUpdated']?.push(notFound(update.cmHandle))
    else streams.handles.set(update.cmHandle, updated(view, update))
  }
  for (const { cmHandle, moduleSetTag } of data.upgraded) {
    const view = streams.handles.get(cmHandle)
    if (view === undefined) failed['failedUpgraded']?.push(notFound(cmHandle))
    else streams.handles.set(cmHandle, { ...view, moduleSetTag })
  }
  return failed as unknown as events.CmHandlesAnswer
}

function asObject(properties: readonly events.Property[]): Record<string, string> {
  return Object.fromEntries(properties.map(({ name, value }) => [name, value]))
}

function updated(view: CmHandleView, update: events.CmHandleUpdate): CmHandleView {
  const publicProperties: Record<string, string> = { ...view.publicProperties }
  for (const { name, value } of update.publicProperties ?? []) {
    if (value === null) Reflect.deleteProperty(publicProperties, name)
    else publicProperties[name] = value
  }
  return {
    ...view,
    publicProperties,
    alternateId: view.alternateId === '' ? (update.alternateId ?? '') : view.alternateId,
    cmHandleStatus: update.cmHandleStatus ?? view.cmHandleStatus,
  }
}

function setDataSync(streams: TestStreams, { cmHandle, dataSyncEnabled }: events.DataSyncSet): events.DataSyncAnswer {
  const view = streams.handles.get(cmHandle)
  if (view !== undefined) streams.handles.set(cmHandle, { ...view, dataSyncEnabled })
  return { found: view !== undefined }
}
