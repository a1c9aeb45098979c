import type {
  AlternateIdsAnswer,
  CmHandleCreation,
  CmHandlesAnswer,
  CmHandleUpdate,
  CmHandleUpgrade,
  DmiPluginAnswer,
  DmiPluginNames,
  HeartbeatReported,
  RegistrationFailure,
  TrustLevel,
} from '../../schemas/trust-level/journal-events.js'
import { FoldKit } from '../fold-kit.js'
import type { FoldKitOptions } from '../fold-kit.js'
import { dataPluginOf } from './levels.js'
import { alternateIdQuery, cmHandleQuery } from './queries/cm-handle.js'
import { searchQuery } from './queries/search.js'
import type { TrustLevelSettings } from './settings.js'
import { pluginHomes } from './tables.js'
import { trustLevel } from './trust-level.js'
import type { CmHandleLookUp, CmHandleView, Condition, SearchArguments } from './views.js'

export const PLUGIN = 'http://dmi-1:8080'
export const JOURNAL = 'test-trust-level-journal'
export const MINUTE_MS = 60_000

export const testSettings: TrustLevelSettings = {
  onDmiRestart: 'complete',
  trustLevelNotices: true,
  trustLevelNoticeTopic: 'ncmp-inventory-events',
  pendingLevelMs: 5 * MINUTE_MS,
  maxFutureSkewMs: 5 * MINUTE_MS,
  dmiHealthIntervalMs: 30_000,
  dmiHealthDeadlineMs: 2_000,
}

export interface TestRegistration {
  readonly plugins?: Partial<DmiPluginNames>
  readonly removed?: readonly string[]
  readonly created?: readonly (string | (Partial<CmHandleCreation> & { readonly cmHandle: string }))[]
  readonly updated?: readonly (Partial<CmHandleUpdate> & { readonly cmHandle: string })[]
  readonly upgraded?: readonly CmHandleUpgrade[]
}

/** The trust-level domain in a fold kit, with what clients do in their own words. */
export class TrustLevelKit extends FoldKit<Parameters<ReturnType<typeof trustLevel>['evolve']>[0], TrustLevelSettings> {
  readonly #cmHandle = cmHandleQuery(JOURNAL)
  #claims = 0

  constructor(settings: Partial<TrustLevelSettings> = {}, options: FoldKitOptions<TrustLevelSettings> = {}) {
    const used = { ...testSettings, ...settings }
    super(trustLevel({ settings: used, heartbeatTopic: 'heartbeats', journalTopic: JOURNAL, effectors: [] }), options)
  }

  /** As the API does it: the plugin is settled at home, alternate ids are claimed, then each partition gets its handles. */
  register({ plugins, removed = [], created = [], updated = [], upgraded = [] }: TestRegistration): CmHandlesAnswer {
    const names = { ...NO_PLUGINS, ...(plugins ?? { dmiPlugin: PLUGIN }) }
    const name = dataPluginOf(names)
    const { plugin } = this.when(name, {
      type: 'DmiPluginRegistered',
      data: { plugin: name },
    }) as DmiPluginAnswer
    const creations = created.map((one) => ({ ...NEW_HANDLE, ...(typeof one === 'string' ? { cmHandle: one } : one) }))
    const updates = updated.map((one) => ({ ...NO_UPDATE, ...one }))
    const claimId = `claim-${++this.#claims}`
    const refused = this.claim([...creations, ...updates], claimId)
    const accepted = (one: { readonly cmHandle: string }): boolean => !refused.has(one.cmHandle)
    const ids = [...removed, ...[...creations, ...updates, ...upgraded].map(({ cmHandle }) => cmHandle)]
    const answers = [...new Set(ids.map((id) => this.partitionOf(id)))].map((partition) => {
      const isHere = (id: string): boolean => this.partitionOf(id) === partition
      const data = {
        plugins: names,
        plugin,
        claimId,
        removed: removed.filter(isHere),
        created: creations.filter((one) => isHere(one.cmHandle) && accepted(one)),
        updated: updates.filter((one) => isHere(one.cmHandle) && accepted(one)),
        upgraded: upgraded.filter(({ cmHandle }) => isHere(cmHandle)),
      }
      return this.when(partition, { type: 'CmHandlesRegistered', data }) as CmHandlesAnswer
    })
    const all = (list: keyof CmHandlesAnswer): RegistrationFailure[] => answers.flatMap((answer) => answer[list])
    return {
      failedCreated: all('failedCreated'),
      failedUpdated: all('failedUpdated'),
      failedRemoved: all('failedRemoved'),
      failedUpgraded: all('failedUpgraded'),
    }
  }

  /** Handles whose alternate id another has. */
  claim(
    handles: readonly { readonly cmHandle: string; readonly alternateId: string | null }[],
    claimId: string,
  ): ReadonlySet<string> {
    const refused = handles.flatMap(({ cmHandle, alternateId }) => {
      if (alternateId === null || alternateId.trim() === '') return []
      const data = { claims: [{ alternateId, cmHandle }], claimId }
      return (this.when(alternateId, { type: 'AlternateIdsClaimed', data }) as AlternateIdsAnswer).refused
    })
    return new Set(refused.map(({ cmHandle }) => cmHandle))
  }

  /** `eventTime`: absent: now. */
  heartbeat(cmHandle: string, level: TrustLevel, eventTime?: number, more: Partial<HeartbeatReported> = {}): void {
    const data = { ...HEARTBEAT, cmHandle, trustLevel: level, eventTime: eventTime ?? this.time, ...more }
    this.when(cmHandle, { type: 'HeartbeatReported', data })
  }

  /** Waits for the check that is due next, and gives it this result. */
  check(up: boolean, plugin = PLUGIN): void {
    for (let i = 0; this.owed(plugin).every(({ target }) => target !== plugin); i++) {
      if (i > 100) throw new Error(`no check of ${plugin} is due`)
      this.advance(1_000)
    }
    this.perform((request) => checked(request.target, request.target === plugin ? up : this.isUp(request.target)))
  }

  isUp(plugin: string): boolean {
    return this.levelAtHome(plugin) === 'COMPLETE'
  }

  levelAtHome(plugin: string): TrustLevel | undefined {
    return this.row(pluginHomes, plugin, plugin)?.level
  }

  look(cmHandle: string): Promise<CmHandleLookUp> {
    return this.query(this.#cmHandle, cmHandle, { cmHandle })
  }

  async level(cmHandle: string): Promise<TrustLevel | undefined> {
    const found = await this.look(cmHandle)
    return found.found ? found.handle.trustLevel : undefined
  }

  async byAlternateId(alternateId: string): Promise<string | null> {
    return (await this.query(alternateIdQuery, alternateId, { alternateId })).cmHandle
  }

  /** Ids of the handles found, in order. */
  async search(...conditions: Condition[]): Promise<string[]> {
    return (await this.searchTexts({ conditions, fields: 'id' })).sort()
  }

  async searchTexts(args: SearchArguments): Promise<string[]> {
    return (await this.queryAll(searchQuery, args)).flatMap((page) => page.texts)
  }

  async searchViews(args: Omit<SearchArguments, 'fields'>): Promise<CmHandleView[]> {
    return (await this.queryAll(searchQuery, { ...args, fields: 'view' })).flatMap((page) => page.views)
  }

  /** Notices since the last call: "dev-1 COMPLETE>NONE plugin". */
  notices(): string[] {
    return this.outputs.splice(0).map(({ key, value, headers }) => {
      const change = /"oldAttributeValue":"(\w+)"/.exec(String(value))?.[1] ?? ''
      const to = /"newAttributeValue":"(\w+)"/.exec(String(value))?.[1] ?? ''
      return `${key} ${change}>${to} ${headers.find(([name]) => name === 'ce_cause')?.[1] ?? ''}`
    })
  }
}

export function checked(plugin: string, up: boolean): Parameters<TrustLevelKit['when']>[1] {
  const reason = up ? 'status UP' : 'connection refused'
  return { type: 'DmiPluginChecked', data: { plugin, up, healthPath: up ? '/manage/health/readiness' : '', reason } }
}

const NO_PLUGINS: DmiPluginNames = {
  dmiPlugin: '',
  dmiDataPlugin: '',
  dmiModelPlugin: '',
  dmiDatajobsReadPlugin: '',
  dmiDatajobsWritePlugin: '',
}

const NEW_HANDLE: Omit<CmHandleCreation, 'cmHandle'> = {
  publicProperties: [],
  additionalProperties: [],
  moduleSetTag: '',
  alternateId: '',
  dataProducerIdentifier: '',
  cmHandleStatus: '',
  trustLevel: null,
}

const NO_UPDATE: Omit<CmHandleUpdate, 'cmHandle'> = {
  publicProperties: null,
  additionalProperties: null,
  alternateId: null,
  dataProducerIdentifier: null,
  cmHandleStatus: null,
}

const HEARTBEAT: Pick<HeartbeatReported, 'eventTimeSource' | 'producer' | 'eventType'> = {
  eventTimeSource: 'CE_TIME',
  producer: 'dmi-1',
  eventType: 'org.onap.cps.ncmp.events.trustlevel.DeviceTrustLevel',
}
