import type {
  CmHandleCreation,
  CmHandlesAnswer,
  CmHandlesRegistered,
  CmHandleUpdate,
  CmHandleUpgrade,
  DataSyncAnswer,
  DataSyncSet,
  DmiPluginNames,
  Property,
  PropertyChange,
  RegistrationFailure,
} from '../../schemas/trust-level/journal-events.js'
import { cmHandleIdFault } from '../../schemas/trust-level/references.js'
import type { Reads } from '../../topology/processor.js'
import { sendEvent } from './context.js'
import type { Context } from './context.js'
import { dataPluginOf } from './levels.js'
import { forgetOwnLevel, startOwnLevel } from './own-level.js'
import { pluginLevelTold } from './plugin-levels.js'
import { pluginName } from './plugin-name.js'
import { cmHandles, deniedClaims, trust } from './tables.js'
import type { CmHandleRow } from './tables.js'

/** NCMP's response statuses that folds give. (trust levels, section 1.4) */
const FAILURES = {
  '100': 'cm handle reference(s) not found',
  '108': 'the claim of the alternate id was open for too long and is given up; send again',
  '109': 'cm-handle already exists',
  '110': 'cm handle reference has an invalid character(s) in id',
} as const

type FailureCode = keyof typeof FAILURES

export function readsOfRegistration(event: CmHandlesRegistered): Reads {
  const { removed, created, updated, upgraded, claimId } = event
  const ids = [...removed, ...[...created, ...updated, ...upgraded].map(({ cmHandle }) => cmHandle)]
  return {
    rows: [
      { table: deniedClaims, key: claimId },
      ...ids.flatMap((key) => [
        { table: cmHandles, key },
        { table: trust, key },
      ]),
    ],
  }
}

/**
 * A part of a registration request: removed, created, updated, upgraded, in this order. What fails is answered by code and
 * changes nothing; the rest stands. Each alternate id claimed for it is settled, one way or the other.
 */
export function cmHandlesRegistered(event: CmHandlesRegistered, context: Context): void {
  if (event.plugin !== null) pluginLevelTold(event.plugin, context)
  const names = normalised(event.plugins)
  const freed = new Map<string, string>()
  const failed = <Item>(
    items: readonly Item[],
    idOf: (item: Item) => string,
    fold: (item: Item) => FailureCode | null,
  ) =>
    items.flatMap((item): RegistrationFailure[] => {
      const cmHandle = idOf(item)
      const errorCode = cmHandleIdFault(cmHandle) === null ? fold(item) : '110'
      return errorCode === null ? [] : [{ cmHandle, errorCode, errorText: FAILURES[errorCode] }]
    })
  const claimed = (item: CmHandleCreation | CmHandleUpdate, code: FailureCode | null): FailureCode | null => {
    settleClaim(item, event.claimId, code === null, freed, context)
    return code
  }
  const idOf = ({ cmHandle }: { readonly cmHandle: string }): string => cmHandle
  const isDenied = context.get(deniedClaims, event.claimId) !== undefined
  const answer: CmHandlesAnswer = {
    failedRemoved: failed(event.removed, String, (cmHandle) => remove(cmHandle, freed, context)),
    failedCreated: failed(event.created, idOf, (creation) =>
      claimed(creation, create(creation, names, isDenied, context)),
    ),
    failedUpdated: failed(event.updated, idOf, (change) => claimed(change, update(change, isDenied, context))),
    failedUpgraded: failed(event.upgraded, idOf, (upgrade) => upgradeModules(upgrade, context)),
  }
  for (const [alternateId, cmHandle] of freed) {
    sendEvent(context, alternateId, {
      type: 'AlternateIdSettled',
      data: { alternateId, cmHandle, claimId: '', held: false },
    })
  }
  context.answer(answer)
}

export function readsOfDataSync({ cmHandle }: DataSyncSet): Reads {
  return { rows: [{ table: cmHandles, key: cmHandle }] }
}

/** PUT ch/{id}/data-sync: the flag, no more. */
export function dataSyncSet({ cmHandle, dataSyncEnabled }: DataSyncSet, context: Context): void {
  const row = context.get(cmHandles, cmHandle)
  if (row !== undefined) context.put(cmHandles, cmHandle, { ...row, dataSyncEnabled })
  context.answer({ found: row !== undefined } satisfies DataSyncAnswer)
}

/** No notice of it, and a tombstone, so that what was reported before does not count for a handle registered anew. */
function remove(cmHandle: string, freed: Map<string, string>, context: Context): FailureCode | null {
  const row = context.get(cmHandles, cmHandle)
  if (row === undefined) return '100'
  context.delete(cmHandles, cmHandle)
  forgetOwnLevel(cmHandle, context)
  if (row.alternateId !== '') freed.set(row.alternateId, cmHandle)
  context.count('handles_removed')
  return null
}

function create(
  creation: CmHandleCreation,
  names: DmiPluginNames,
  isDenied: boolean,
  context: Context,
): FailureCode | null {
  const { cmHandle, trustLevel } = creation
  if (context.get(cmHandles, cmHandle) !== undefined) return '109'
  if (isDenied && creation.alternateId !== '') return '108'
  // Member by member: a row put together by spreading is a slow object.
  context.put(cmHandles, cmHandle, {
    dmiPlugin: names.dmiPlugin,
    dmiDataPlugin: names.dmiDataPlugin,
    dmiModelPlugin: names.dmiModelPlugin,
    dmiDatajobsReadPlugin: names.dmiDatajobsReadPlugin,
    dmiDatajobsWritePlugin: names.dmiDatajobsWritePlugin,
    alternateId: creation.alternateId,
    moduleSetTag: creation.moduleSetTag,
    dataProducerIdentifier: creation.dataProducerIdentifier,
    cmHandleStatus: creation.cmHandleStatus,
    publicProperties: creation.publicProperties,
    additionalProperties: creation.additionalProperties,
    dataSyncEnabled: false,
    lastUpdateTime: context.time,
  })
  startOwnLevel(cmHandle, dataPluginOf(names), trustLevel ?? 'COMPLETE', context)
  context.count('handles_registered')
  return null
}

/** An alternate id may be set once; blank leaves what is there. */
function update(change: CmHandleUpdate, isDenied: boolean, context: Context): FailureCode | null {
  const row = context.get(cmHandles, change.cmHandle)
  if (row === undefined) return '100'
  const alternateId = isBlank(change.alternateId) ? row.alternateId : change.alternateId
  if (alternateId !== row.alternateId) {
    if (row.alternateId !== '') return '109'
    if (isDenied) return '108'
  }
  context.put(cmHandles, change.cmHandle, {
    ...row,
    alternateId,
    dataProducerIdentifier: change.dataProducerIdentifier ?? row.dataProducerIdentifier,
    cmHandleStatus: change.cmHandleStatus ?? row.cmHandleStatus,
    publicProperties: changed(row.publicProperties, change.publicProperties),
    additionalProperties: changed(row.additionalProperties, change.additionalProperties),
  })
  return null
}

function upgradeModules({ cmHandle, moduleSetTag }: CmHandleUpgrade, context: Context): FailureCode | null {
  const row = context.get(cmHandles, cmHandle)
  if (row === undefined) return '100'
  context.put(cmHandles, cmHandle, { ...row, moduleSetTag, lastUpdateTime: context.time })
  return null
}

/** Tells the alternate id's partition what became of the claim. What the handle had before and has again is not freed. */
function settleClaim(
  { cmHandle, alternateId }: CmHandleCreation | CmHandleUpdate,
  claimId: string,
  held: boolean,
  freed: Map<string, string>,
  context: Context,
): void {
  if (isBlank(alternateId)) return
  if (held && freed.get(alternateId) === cmHandle) freed.delete(alternateId)
  sendEvent(context, alternateId, { type: 'AlternateIdSettled', data: { alternateId, cmHandle, claimId, held } })
}

function isBlank(text: string | null): text is null | '' {
  return text === null || text.trim() === ''
}

function changed(
  properties: CmHandleRow['publicProperties'],
  changes: readonly PropertyChange[] | null,
): readonly Property[] {
  if (changes === null) return properties
  const merged = new Map(properties.map(({ name, value }) => [name, value]))
  for (const { name, value } of changes) {
    if (value === null) merged.delete(name)
    else merged.set(name, value)
  }
  return Array.from(merged, ([name, value]) => ({ name, value }))
}

function normalised(names: DmiPluginNames): DmiPluginNames {
  return {
    dmiPlugin: pluginName(names.dmiPlugin),
    dmiDataPlugin: pluginName(names.dmiDataPlugin),
    dmiModelPlugin: pluginName(names.dmiModelPlugin),
    dmiDatajobsReadPlugin: pluginName(names.dmiDatajobsReadPlugin),
    dmiDatajobsWritePlugin: pluginName(names.dmiDatajobsWritePlugin),
  }
}
