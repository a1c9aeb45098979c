import type { TrustLevel } from '../../../schemas/trust-level/journal-events.js'
import type { Query, QueryReader } from '../../../topology/processor.js'
import { countedOwnLevel, effectiveLevel, isLower } from '../levels.js'
import { alternateIds, cmHandles, plugins, trust } from '../tables.js'
import type { CmHandleRow, PluginRow, TrustRow } from '../tables.js'
import type { AlternateIdLookUp, CmHandleLookUp, CmHandleView, ReferenceLookUp, TrustEvidence } from '../views.js'

/** One handle with its level and why it is so. `journalTopic`: for the position that decided. */
export function cmHandleQuery(journalTopic: string): Query<{ readonly cmHandle: string }, CmHandleLookUp> {
  return {
    name: 'cm-handle',
    isLookUp: true,
    async run(reader, { cmHandle }) {
      const [row, own] = await Promise.all([reader.get(cmHandles, cmHandle), reader.get(trust, cmHandle)])
      if (row === undefined || own?.status !== 'REGISTERED') {
        return { found: false, pendingSince: own?.status === 'PENDING' ? own.since : null }
      }
      const plugin = reader.residentRow(plugins, own.plugin)
      const handle = viewOf(cmHandle, row, effectiveLevel(own, plugin))
      return { found: true, handle, evidence: evidenceOf(own, plugin, reader, journalTopic) }
    },
  }
}

/** Who has, or has claimed, an alternate id. */
export const alternateIdQuery: Query<{ readonly alternateId: string }, AlternateIdLookUp> = {
  name: 'alternate-id',
  isLookUp: true,
  async run(reader, { alternateId }) {
    return { cmHandle: (await reader.get(alternateIds, alternateId))?.cmHandle ?? null }
  },
}

/** What a text leads to as an id and as an alternate id, both of which have their home at the same key. */
export function referenceQuery(journalTopic: string): Query<{ readonly reference: string }, ReferenceLookUp> {
  const byId = cmHandleQuery(journalTopic)
  return {
    name: 'reference',
    isLookUp: true,
    async run(reader, { reference }) {
      const [found, { cmHandle }] = await Promise.all([
        byId.run(reader, { cmHandle: reference }),
        alternateIdQuery.run(reader, { alternateId: reference }),
      ])
      return { byId: found, byAlternateId: cmHandle }
    },
  }
}

/** `trustLevel` undefined: left out, as JSON does it. */
export function viewOf(cmHandle: string, row: CmHandleRow, trustLevel: TrustLevel | undefined): CmHandleView {
  return {
    cmHandle,
    dmiPlugin: row.dmiPlugin,
    dmiDataPlugin: row.dmiDataPlugin,
    dmiModelPlugin: row.dmiModelPlugin,
    dmiDatajobsReadPlugin: row.dmiDatajobsReadPlugin,
    dmiDatajobsWritePlugin: row.dmiDatajobsWritePlugin,
    alternateId: row.alternateId,
    moduleSetTag: row.moduleSetTag,
    dataProducerIdentifier: row.dataProducerIdentifier,
    cmHandleStatus: row.cmHandleStatus,
    publicProperties: asObject(row.publicProperties),
    additionalProperties: asObject(row.additionalProperties),
    dataSyncEnabled: row.dataSyncEnabled,
    lastUpdateTime: row.lastUpdateTime,
    trustLevel,
  } as CmHandleView
}

/** Own members whatever their names: an assignment to `__proto__` would be lost. */
function asObject(properties: CmHandleRow['publicProperties']): Readonly<Record<string, string>> {
  const object: Record<string, string> = {}
  for (const { name, value } of properties) {
    if (name === '__proto__') Object.defineProperty(object, name, { value, enumerable: true, configurable: true })
    else object[name] = value
  }
  return object
}

function evidenceOf(
  own: TrustRow,
  plugin: PluginRow | undefined,
  { partition }: QueryReader,
  topic: string,
): TrustEvidence {
  const decidedAt = plugin === undefined ? null : decidingPosition(own, plugin)
  const isCounted = plugin === undefined || own.returnNumber === plugin.returnNumber
  return {
    ownLevel: plugin === undefined ? own.own : countedOwnLevel(own, plugin),
    ownSince: isCounted ? own.since : plugin.returnedAt,
    plugin: own.plugin,
    pluginLevel: plugin?.level ?? null,
    pluginSince: plugin?.since ?? null,
    lastHeartbeat: own.reported ? own.eventTime : null,
    decidedBy: decidedAt === null ? null : { topic, partition, offset: decidedAt },
  }
}

/** The plugin's record where it is the lower; the own one where that is; else the later, since which both are so. */
function decidingPosition(own: TrustRow, plugin: PluginRow): number {
  const ownLevel = countedOwnLevel(own, plugin)
  const ownOffset = own.returnNumber === plugin.returnNumber ? own.offset : plugin.returnOffset
  if (isLower(ownLevel, plugin.level)) return ownOffset
  return plugin.level === 'COMPLETE' ? Math.max(ownOffset, plugin.offset) : plugin.offset
}
