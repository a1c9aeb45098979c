import type { CmHandleLookUp } from '../../processors/trust-level/views.js'
import type { Demand, Provenance } from '../../topology/streams.js'
import { TRUST_LEVEL } from '../trust-level-queries.js'
import type { Api } from '../api.js'
import { ApiError } from '../errors.js'
import { answered } from '../positions.js'
import { shown } from './json-values.js'
import { alternateIdFault, cmHandleIdFault } from '../../schemas/trust-level/references.js'
import { isoTime } from './shapes.js'

export type FoundCmHandle = Extract<CmHandleLookUp, { found: true }> & { readonly provenance: Provenance }

/** Longest reference: an alternate id's length. */
const REFERENCE_LIMIT = 2048

/** By id, else by exactly this alternate id. Errors: CM_HANDLE_NOT_FOUND, PATH_TOO_LONG. (trust levels, section 1.2) */
export async function findByReference(api: Api, reference: string, demand: Demand): Promise<FoundCmHandle> {
  checkLength(reference)
  const byId = await lookUpId(api, reference, demand)
  if (byId?.found === true) return byId
  const byAlternateId = await lookUpAlternateId(api, reference, demand)
  if (byAlternateId !== null) return byAlternateId
  throw notFound(reference, byId?.pendingSince ?? null)
}

/**
 * By the longest alternate id that is the reference or a prefix of it by "/"-segments, text after "#" dropped; else as
 * `findByReference`. Errors: CM_HANDLE_NOT_FOUND, PATH_TOO_LONG. (trust levels, section 1.2)
 */
export async function findByLongestAlternateId(api: Api, reference: string, demand: Demand): Promise<FoundCmHandle> {
  checkLength(reference)
  for (const candidate of prefixesOf(reference)) {
    const found = await lookUpAlternateId(api, candidate, demand)
    if (found !== null) return found
  }
  const byId = await lookUpId(api, reference, demand)
  if (byId?.found === true) return byId
  throw notFound(reference, byId?.pendingSince ?? null)
}

/** The refusal of a reference that leads to no handle. */
export function notFound(reference: string, pendingSince: number | null): ApiError {
  const text = `No cm handles found with reference ${shown(reference, 300)}`
  const pending =
    pendingSince === null ? '' : `; a trust level reported for it is pending since ${isoTime(pendingSince)}`
  return new ApiError('CM_HANDLE_NOT_FOUND', text + pending)
}

function checkLength(reference: string): void {
  if (reference.length <= REFERENCE_LIMIT) return
  throw new ApiError('PATH_TOO_LONG', `a reference has at most ${REFERENCE_LIMIT} characters`)
}

type NotFound = Extract<CmHandleLookUp, { found: false }>

async function lookUpId(api: Api, cmHandle: string, demand: Demand): Promise<FoundCmHandle | NotFound | null> {
  if (cmHandleIdFault(cmHandle) !== null) return null
  const answer = answered(await api.streams.query(TRUST_LEVEL, api.queries.cmHandle, cmHandle, { cmHandle }, demand))
  return answer.result.found ? { ...answer.result, provenance: answer } : answer.result
}

/** The alternate id's home only says who may have it: the handle's own row decides. */
async function lookUpAlternateId(api: Api, alternateId: string, demand: Demand): Promise<FoundCmHandle | null> {
  if (alternateId === '' || alternateIdFault(alternateId) !== null) return null
  const holder = answered(
    await api.streams.query(TRUST_LEVEL, api.queries.alternateId, alternateId, { alternateId }, demand),
  ).result.cmHandle
  if (holder === null) return null
  const found = await lookUpId(api, holder, demand)
  return found?.found === true && found.handle.alternateId === alternateId ? found : null
}

/** The whole reference, then without "#" and what follows, then shorter by a segment each. */
function* prefixesOf(reference: string): Generator<string> {
  yield reference
  const hash = reference.indexOf('#')
  let candidate = hash < 0 ? reference : reference.slice(0, hash)
  if (hash >= 0) yield candidate
  for (;;) {
    const slash = candidate.lastIndexOf('/')
    if (slash <= 0) return
    candidate = candidate.slice(0, slash)
    yield candidate
  }
}
