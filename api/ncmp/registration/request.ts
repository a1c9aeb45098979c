import type {
  CmHandleCreation,
  CmHandleUpdate,
  CmHandleUpgrade,
  DmiPluginNames,
  Property,
  PropertyChange,
  RegistrationFailure,
  TrustLevel,
} from '../../../schemas/trust-level/journal-events.js'
import { TRUST_LEVELS } from '../../../schemas/trust-level/journal-events.js'
import { cut } from '../../../common/errors.js'
import type { PluginAddressPolicy } from '../../../common/plugin-address.js'
import { textBytes } from '../../../common/text-bytes.js'
import { ApiError } from '../../errors.js'
import { isObject, scalarText } from '../json-values.js'
import { alternateIdFault, cmHandleIdFault } from '../../../schemas/trust-level/references.js'
import { failure } from './failures.js'
import type { Failures } from './failures.js'
import { parsePlugins } from './plugins.js'

/** A registration request as checked; what of it failed already stands in `failures`. */
export interface RegistrationRequest {
  readonly plugins: DmiPluginNames
  readonly removed: readonly string[]
  readonly created: readonly CmHandleCreation[]
  readonly updated: readonly CmHandleUpdate[]
  readonly upgraded: readonly CmHandleUpgrade[]
  readonly failures: Failures
}

/** With all its properties: it must fit a journal record, with others beside it. */
const MAX_HANDLE_BYTES = 256 * 1024

type Json = Readonly<Record<string, unknown>>

/**
 * Checks and coerces a registration body: scalars become strings, blank tags and ids "". Members that are of no JSON type
 * asked for, levels that are none, and plugin addresses refuse the whole request; an id with faults fails alone (110), and
 * so does the second of two created handles with one id or one alternate id (109). Errors: BODY_MALFORMED, BODY_INVALID,
 * DMI_PLUGIN_INVALID. (trust levels, sections 1.4 and 9)
 */
export function parseRegistration(body: unknown, policy: PluginAddressPolicy): RegistrationRequest {
  if (!isObject(body)) throw new ApiError('BODY_MALFORMED', 'the body is not an object')
  const plugins = parsePlugins(body, policy)
  const failures: Failures = { created: [], updated: [], removed: [], upgraded: [] }
  const removed = idsOf(body['removedCmHandles'], 'removedCmHandles')
  const created = objectsOf(body['createdCmHandles'], 'createdCmHandles').map(creationOf)
  const updated = objectsOf(body['updatedCmHandles'], 'updatedCmHandles').map(updateOf)
  const upgraded = upgradesOf(body['upgradedCmHandles'])
  if (created.length > 0 && plugins.dmiPlugin === '' && plugins.dmiDataPlugin === '') {
    throw new ApiError(
      'DMI_PLUGIN_INVALID',
      'No DMI plugin service names: created cm handles need dmiPlugin or dmiDataPlugin',
    )
  }
  const ids = new Set<string>()
  const createdClaims = new Map<string, string>()
  const updatedClaims = new Map<string, string>()
  return {
    plugins,
    failures,
    removed: removed.filter((cmHandle) => keepIf(idFailure(cmHandle), failures.removed)),
    created: created.filter((creation) =>
      keepIf(
        idFailure(creation.cmHandle) ??
          sizeFailure(creation) ??
          repeatFailure(creation, ids) ??
          claimFailure(creation, createdClaims),
        failures.created,
      ),
    ),
    updated: updated.filter((update) =>
      keepIf(
        idFailure(update.cmHandle) ?? sizeFailure(update) ?? claimFailure(update, updatedClaims),
        failures.updated,
      ),
    ),
    upgraded: upgraded.filter((upgrade) => keepIf(idFailure(upgrade.cmHandle), failures.upgraded)),
  }
}

function keepIf(fault: RegistrationFailure | null, failures: RegistrationFailure[]): boolean {
  if (fault !== null) failures.push(fault)
  return fault === null
}

function idFailure(cmHandle: string): RegistrationFailure | null {
  return cmHandleIdFault(cmHandle) === null ? null : failure(cmHandle, '110')
}

function sizeFailure(handle: { readonly cmHandle: string }): RegistrationFailure | null {
  if (textBytes(handle) <= MAX_HANDLE_BYTES) return null
  return failure(handle.cmHandle, '108', `cm handle is larger than ${MAX_HANDLE_BYTES} bytes`)
}

function repeatFailure({ cmHandle }: CmHandleCreation, ids: Set<string>): RegistrationFailure | null {
  if (ids.has(cmHandle)) return failure(cmHandle, '109')
  ids.add(cmHandle)
  return null
}

/** The first created, or updated, handle of the request that names an alternate id may claim it. */
function claimFailure(
  handle: { readonly cmHandle: string; readonly alternateId: string | null },
  claims: Map<string, string>,
): RegistrationFailure | null {
  const { cmHandle, alternateId } = handle
  if (alternateId === null || alternateId === '') return null
  const fault = alternateIdFault(alternateId)
  if (fault !== null) return failure(cmHandle, '108', fault)
  const first = claims.get(alternateId)
  if (first !== undefined && first !== cmHandle) return failure(cmHandle, '109')
  claims.set(alternateId, cmHandle)
  return null
}

function creationOf(handle: Json, path: string): CmHandleCreation {
  return {
    cmHandle: requiredId(handle['cmHandle'], `${path}.cmHandle`),
    publicProperties: withoutNulls(
      propertiesOf(handle['publicCmHandleProperties'], `${path}.publicCmHandleProperties`),
    ),
    additionalProperties: withoutNulls(propertiesOf(handle['cmHandleProperties'], `${path}.cmHandleProperties`)),
    moduleSetTag: textOf(handle['moduleSetTag'], `${path}.moduleSetTag`)?.trim() ?? '',
    alternateId: textOf(handle['alternateId'], `${path}.alternateId`)?.trim() ?? '',
    dataProducerIdentifier: textOf(handle['dataProducerIdentifier'], `${path}.dataProducerIdentifier`)?.trim() ?? '',
    cmHandleStatus: textOf(handle['cmHandleStatus'], `${path}.cmHandleStatus`)?.trim() ?? '',
    trustLevel: trustLevelOf(handle['trustLevel'], `${path}.trustLevel`),
  }
}

/** A level in an update counts for nothing, but must be one. Blank texts leave what is there. */
function updateOf(handle: Json, path: string): CmHandleUpdate {
  trustLevelOf(handle['trustLevel'], `${path}.trustLevel`)
  const notBlank = (member: string): string | null => {
    const text = textOf(handle[member], `${path}.${member}`)?.trim()
    return text === undefined || text === '' ? null : text
  }
  return {
    cmHandle: requiredId(handle['cmHandle'], `${path}.cmHandle`),
    publicProperties: propertiesOf(handle['publicCmHandleProperties'], `${path}.publicCmHandleProperties`),
    additionalProperties: propertiesOf(handle['cmHandleProperties'], `${path}.cmHandleProperties`),
    alternateId: notBlank('alternateId'),
    dataProducerIdentifier: notBlank('dataProducerIdentifier'),
    cmHandleStatus: notBlank('cmHandleStatus'),
  }
}

function upgradesOf(value: unknown): readonly CmHandleUpgrade[] {
  if (isAbsent(value)) return []
  if (!isObject(value)) throw wrongType('upgradedCmHandles', 'an object')
  const moduleSetTag = textOf(value['moduleSetTag'], 'upgradedCmHandles.moduleSetTag')?.trim() ?? ''
  if (isAbsent(value['cmHandles'])) throw new ApiError('BODY_INVALID', 'upgradedCmHandles.cmHandles is required')
  return idsOf(value['cmHandles'], 'upgradedCmHandles.cmHandles').map((cmHandle) => ({ cmHandle, moduleSetTag }))
}

function propertiesOf(value: unknown, path: string): readonly PropertyChange[] | null {
  if (isAbsent(value)) return null
  if (!isObject(value)) throw wrongType(path, 'an object')
  return Object.entries(value).map(([name, item]) => ({ name, value: textOf(item, `${path}.${cut(name)}`) }))
}

function withoutNulls(properties: readonly PropertyChange[] | null): readonly Property[] {
  return (properties ?? []).flatMap(({ name, value }) => (value === null ? [] : [{ name, value }]))
}

function trustLevelOf(value: unknown, path: string): TrustLevel | null {
  if (isAbsent(value)) return null
  const level = TRUST_LEVELS.find((known) => known === value)
  if (level === undefined) {
    throw new ApiError('BODY_INVALID', `${path}: ${cut(value)} is not one of ${TRUST_LEVELS.join(', ')}`)
  }
  return level
}

function idsOf(value: unknown, path: string): readonly string[] {
  return listOf(value, path).map((id, i) => requiredId(id, `${path}[${i}]`))
}

function objectsOf(value: unknown, path: string): { map<T>(make: (object: Json, path: string) => T): T[] } {
  const list = listOf(value, path)
  return {
    map: (make) =>
      list.map((item, i) => {
        if (!isObject(item)) throw wrongType(`${path}[${i}]`, 'an object')
        return make(item, `${path}[${i}]`)
      }),
  }
}

function listOf(value: unknown, path: string): readonly unknown[] {
  if (isAbsent(value)) return []
  if (!Array.isArray(value)) throw wrongType(path, 'a list')
  return value
}

function requiredId(value: unknown, path: string): string {
  const id = textOf(value, path)
  if (id === null) throw new ApiError('BODY_INVALID', `${path} is required`)
  return id
}

function textOf(value: unknown, path: string): string | null {
  if (isAbsent(value)) return null
  const text = scalarText(value)
  if (text === undefined) throw wrongType(path, 'a text')
  return text
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null
}

function wrongType(path: string, expected: string): ApiError {
  return new ApiError('BODY_INVALID', `${path} is not ${expected}`)
}
