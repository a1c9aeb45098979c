import { avroRowCodec } from '../../schemas/avro.js'
import type { AvroRecordSchema } from '../../schemas/avro.js'
import type { DmiPluginNames, Property, TrustLevel } from '../../schemas/trust-level/journal-events.js'
import { dmiPluginNameFields, propertiesSchema, trustLevelSchema } from '../../schemas/trust-level/journal-schemas.js'
import type { IndexEntry, Table } from '../../topology/processor.js'
import { dataPluginOf } from './levels.js'

/** Between the parts of an index key; no id or plugin name has it. */
export const SEPARATOR = '\u0000'
/** Return number of a plugin that has never gone from NONE to COMPLETE. */
export const NEVER = -1

/** A registered handle. */
export interface CmHandleRow extends DmiPluginNames {
  readonly alternateId: string
  readonly moduleSetTag: string
  readonly dataProducerIdentifier: string
  readonly cmHandleStatus: string
  readonly publicProperties: readonly Property[]
  readonly additionalProperties: readonly Property[]
  readonly dataSyncEnabled: boolean
  readonly lastUpdateTime: number
}

/**
 * What is known of a handle's own level: the small row that each report rewrites.
 *
 *     (none) --report--> PENDING --registration--> REGISTERED --removal--> REMOVED --deadline--> (none)
 *       |                   |                         ^                     |  |
 *       |                   +--deadline--> dead letter, (none)              |  +--report--> PENDING
 *       +--------------registration-------------------+----registration-----+
 */
export interface TrustRow {
  readonly status: 'REGISTERED' | 'PENDING' | 'REMOVED'
  /** Data plugin; empty where not registered. */
  readonly plugin: string
  readonly own: TrustLevel
  /** Event time of the newest report; reports dated before are late. Without report: time of the last removal, else 0. */
  readonly eventTime: number
  /** Whether `eventTime` is a report's. */
  readonly reported: boolean
  /** Journal time since which `own` stands, or since which a level is pending. */
  readonly since: number
  /** Effective level last told to the outside. */
  readonly announced: TrustLevel
  /** When PENDING or REMOVED ends; its deadline is armed. 0: REGISTERED. */
  readonly due: number
  /** The plugin's return number under which `own` was told. */
  readonly returnNumber: number
  /** The event that told `own`. */
  readonly offset: number
  readonly index: number
}

/** A plugin as every partition knows it, from its home's broadcasts. */
export interface PluginRow {
  readonly level: TrustLevel
  readonly since: number
  /** Journal time of the last return, where one is known. */
  readonly returnedAt: number
  /** The pass that announces its last change to its handles: the armed deadline. */
  readonly pass: PluginPass | null
  readonly number: number
  readonly returnNumber: number
  /** The event of this partition that told the level. */
  readonly offset: number
  readonly index: number
  /** The event of this partition that told the last return; -1: none did. */
  readonly returnOffset: number
  readonly returnIndex: number
}

export interface PluginPass {
  readonly due: number
  /** The last handle done. */
  readonly after: string
}

/** A plugin at its home partition: its health checks, and who uses it. */
export interface PluginHomeRow {
  readonly level: TrustLevel
  readonly since: number
  /** Journal time of the last registration that named it. */
  readonly settledAt: number
  /** Partitions with handles of it, ascending. */
  readonly using: readonly number[]
  /** Deadline that asks whether it is still used; 0: none armed. */
  readonly forgetDue: number
  /** Deadline of the next check, or the time that the owed one was due. */
  readonly checkDue: number
  readonly healthPath: string
  readonly lastCheck: number | null
  readonly reason: string
  readonly number: number
  readonly returnNumber: number
  /** Effect id of the check under way; empty: none. */
  readonly owedCheck: string
}

/** How many handles of this partition have the plugin as data plugin. */
export interface PluginUseRow {
  readonly handles: number
}

/** Who has an alternate id. */
export interface AlternateIdRow {
  readonly cmHandle: string
  /** The handle's fold has said so; else only claimed. */
  readonly confirmed: boolean
  /** The open claim; empty: none. */
  readonly claimId: string
  /** Deadline that questions the open claim; 0: none. */
  readonly due: number
}

/** A claim that was found not to hold: what still comes under it does not get its alternate id. */
export interface DeniedClaimRow {
  readonly deniedAt: number
}

const schema = (name: string, fields: AvroRecordSchema['fields']): AvroRecordSchema => ({
  type: 'record',
  name,
  fields,
})
const fields = (type: unknown, ...names: readonly string[]): AvroRecordSchema['fields'] =>
  names.map((name) => ({ name, type }))

/** Flags in the values of `by-plugin`: the plugin is the handle's data plugin, or only otherwise named by it. */
const DATA = 'd'
const OTHER = 'o'

export interface HandleEntry {
  readonly id: string
  readonly alternateId: string
}

/** Prefix of a plugin's entries in `by-plugin`. */
export function byPluginKey(plugin: string, cmHandle = ''): string {
  return plugin + SEPARATOR + cmHandle
}

export function isDataPlugin(entry: IndexEntry): boolean {
  return entry.value?.startsWith(DATA) === true
}

/** The handle of an entry of `by-plugin`. */
export function handleEntry(plugin: string, entry: IndexEntry): HandleEntry {
  return { id: entry.key.slice(plugin.length + 1), alternateId: entry.value?.slice(1) ?? '' }
}

export const cmHandles: Table<CmHandleRow> = {
  name: 'cm-handles',
  cachedFor: 'queries',
  codec: avroRowCodec<CmHandleRow>(
    schema('CmHandle', [
      ...dmiPluginNameFields,
      ...fields('string', 'alternateId', 'moduleSetTag', 'dataProducerIdentifier', 'cmHandleStatus'),
      ...fields(propertiesSchema('PublicProperty'), 'publicProperties'),
      ...fields(propertiesSchema('AdditionalProperty'), 'additionalProperties'),
      ...fields('boolean', 'dataSyncEnabled'),
      ...fields('long', 'lastUpdateTime'),
    ]),
  ),
  indexes: {
    /** Each plugin that a handle names as DMI, data or model plugin, with the handle. */
    'by-plugin': {
      entries(cmHandle, row) {
        const data = dataPluginOf(row)
        const entries: IndexEntry[] = [{ key: byPluginKey(data, cmHandle), value: DATA + row.alternateId }]
        const others = new Set([row.dmiPlugin, row.dmiModelPlugin])
        for (const other of others) {
          if (other !== data && other !== '') {
            entries.push({ key: byPluginKey(other, cmHandle), value: OTHER + row.alternateId })
          }
        }
        return entries
      },
    },
  },
}

const NO_ENTRIES: readonly IndexEntry[] = []

export const trust: Table<TrustRow> = {
  name: 'trust',
  codec: avroRowCodec<TrustRow>(
    schema('Trust', [
      { name: 'status', type: { type: 'enum', name: 'Status', symbols: ['REGISTERED', 'PENDING', 'REMOVED'] } },
      ...fields('string', 'plugin'),
      ...fields(trustLevelSchema('OwnLevel'), 'own'),
      ...fields('long', 'eventTime'),
      ...fields('boolean', 'reported'),
      ...fields('long', 'since'),
      ...fields(trustLevelSchema('AnnouncedLevel'), 'announced'),
      ...fields('long', 'due', 'returnNumber', 'offset', 'index'),
    ]),
    ['returnNumber', 'offset', 'index'],
  ),
  indexes: {
    /** Registered handles whose own level, as told, is below COMPLETE; the value says of what plugin and return. */
    lowered: {
      entries(cmHandle, row) {
        if (row.status !== 'REGISTERED' || row.own === 'COMPLETE') return NO_ENTRIES
        return [{ key: cmHandle, value: row.own + SEPARATOR + String(row.returnNumber) + SEPARATOR + row.plugin }]
      },
    },
  },
}

/** The value of an entry of `lowered`. */
export function loweredValue(value: string): Pick<TrustRow, 'own' | 'returnNumber' | 'plugin'> {
  const first = value.indexOf(SEPARATOR)
  const second = value.indexOf(SEPARATOR, first + 1)
  return {
    own: value.slice(0, first) as TrustLevel,
    returnNumber: Number(value.slice(first + 1, second)),
    plugin: value.slice(second + 1),
  }
}

export const plugins: Table<PluginRow> = {
  name: 'plugins',
  resident: true,
  codec: avroRowCodec<PluginRow>(
    schema('Plugin', [
      ...fields(trustLevelSchema('PluginLevel'), 'level'),
      ...fields('long', 'since', 'returnedAt'),
      {
        name: 'pass',
        type: [
          'null',
          { type: 'record', name: 'PluginPass', fields: [...fields('long', 'due'), ...fields('string', 'after')] },
        ],
      },
      ...fields('long', 'number', 'returnNumber', 'offset', 'index', 'returnOffset', 'returnIndex'),
    ]),
    ['number', 'returnNumber', 'offset', 'index', 'returnOffset', 'returnIndex'],
  ),
}

export const pluginHomes: Table<PluginHomeRow> = {
  name: 'plugin-homes',
  resident: true,
  codec: avroRowCodec<PluginHomeRow>(
    schema('PluginHome', [
      ...fields(trustLevelSchema('HomeLevel'), 'level'),
      ...fields('long', 'since', 'settledAt'),
      { name: 'using', type: { type: 'array', items: 'int' } },
      ...fields('long', 'forgetDue', 'checkDue'),
      ...fields('string', 'healthPath'),
      ...fields(['null', 'long'], 'lastCheck'),
      ...fields('string', 'reason'),
      ...fields('long', 'number', 'returnNumber'),
      ...fields('string', 'owedCheck'),
    ]),
    ['number', 'returnNumber', 'owedCheck'],
  ),
}

export const pluginUse: Table<PluginUseRow> = {
  name: 'plugin-use',
  resident: true,
  codec: avroRowCodec<PluginUseRow>(schema('PluginUse', fields('int', 'handles'))),
}

export const alternateIds: Table<AlternateIdRow> = {
  name: 'alternate-ids',
  cachedFor: 'queries',
  codec: avroRowCodec<AlternateIdRow>(
    schema('AlternateId', [
      ...fields('string', 'cmHandle'),
      ...fields('boolean', 'confirmed'),
      ...fields('string', 'claimId'),
      ...fields('long', 'due'),
    ]),
  ),
}

export const deniedClaims: Table<DeniedClaimRow> = {
  name: 'denied-claims',
  cachedFor: 'queries',
  codec: avroRowCodec<DeniedClaimRow>(schema('DeniedClaim', fields('long', 'deniedAt'))),
}

/** In order of declaration, which fixes their key spaces: new ones go to the end. */
export const tables: readonly Table<unknown>[] = [
  cmHandles,
  trust,
  plugins,
  pluginHomes,
  pluginUse,
  alternateIds,
  deniedClaims,
]
