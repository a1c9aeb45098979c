import type { CmHandleLookUp } from '../../processors/trust-level/views.js'
import type { Query } from '../../topology/processor.js'
import type { Demand, Provenance } from '../../topology/streams.js'
import { TRUST_LEVEL } from '../trust-level-queries.js'
import type { Api } from '../api.js'
import { ApiError } from '../errors.js'
import { queryError } from '../http-status.js'
import { answered, worstOf } from '../positions.js'
import { shown } from './json-values.js'
import { alternateIdFault, cmHandleIdFault } from '../../schemas/trust-level/references.js'
import { isoTime } from './shapes.js'

export type FoundCmHandle = Extract<CmHandleLookUp, { found: true }> & { readonly provenance: Provenance }

/** Longest reference: an alternate id's length. */
const REFERENCE_LIMIT = 2048
const RETRY_AFTER_MS = 1000

/** By id, else by exactly this alternate id. Errors: CM_HANDLE_NOT_FOUND, NOT_OWNED, PATH_TOO_LONG. (trust levels, section 1.2) */
export async function findByReference(api: Api, reference: string, demand: Demand): Promise<FoundCmHandle> {
  checkLength(reference)
  const lookUps = new LookUps(api, demand)
  const byId = await lookUps.id(reference)
  if (byId?.found === true) return lookUps.found(byId)
  const byAlternateId = await lookUps.alternateId(reference)
  if (byAlternateId !== null) return lookUps.found(byAlternateId)
  throw lookUps.notFound(reference, byId)
}

/**
 * By the longest alternate id that is the reference or a prefix of it by "/"-segments, text after "#" dropped; else as
 * `findByReference`. Errors: CM_HANDLE_NOT_FOUND, PATH_TOO_LONG. (trust levels, section 1.2)
 */
export async function findByLongestAlternateId(api: Api, reference: string, demand: Demand): Promise<FoundCmHandle> {
  checkLength(reference)
  const lookUps = new LookUps(api, demand)
  for (const candidate of prefixesOf(reference)) {
    const found = await lookUps.alternateId(candidate)
    if (found !== null) return lookUps.found(found)
  }
  const byId = await lookUps.id(reference)
  if (byId?.found === true) return lookUps.found(byId)
  throw lookUps.notFound(reference, byId)
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

type Found = Extract<CmHandleLookUp, { found: true }> & { readonly position: Provenance['position'] }
type NotFound = Extract<CmHandleLookUp, { found: false }>

/** What a text leads to, at its home. */
interface Home {
  readonly byId: Found | NotFound | null
  readonly byAlternateId: string | null
}

/** The questions that one reference takes. An answer is as old as the oldest of what it rests on. */
class LookUps {
  readonly #api: Api
  readonly #demand: Demand
  readonly #provenances: Provenance[] = []
  readonly #homes = new Map<string, Home>()

  constructor(api: Api, demand: Demand) {
    this.#api = api
    this.#demand = demand
  }

  async id(cmHandle: string): Promise<Found | NotFound | null> {
    return (await this.#home(cmHandle)).byId
  }

  /** The alternate id's home only says who may have it: the handle's own row decides. */
  async alternateId(alternateId: string): Promise<Found | null> {
    const { byAlternateId } = await this.#home(alternateId)
    const found = byAlternateId === null ? null : await this.id(byAlternateId)
    return found?.found === true && found.handle.alternateId === alternateId ? found : null
  }

  found({ position, ...found }: Found): FoundCmHandle {
    return { ...found, provenance: { position, ...worstOf(this.#provenances) } }
  }

  /** Only live tasks know that there is no such handle: a standby may not have heard of it yet. */
  notFound(reference: string, byId: NotFound | null | undefined): ApiError {
    const { role, stalenessMs } = worstOf(this.#provenances)
    if (role === 'active') return notFound(reference, byId?.pendingSince ?? null)
    const why = `${shown(reference, 300)} is not found in a copy that is ${Math.ceil(stalenessMs)} ms old`
    return queryError('notOwned', why, RETRY_AFTER_MS)
  }

  /** Asked once, for both kinds of reference that the text may be. */
  async #home(text: string): Promise<Home> {
    const home = this.#homes.get(text) ?? (await this.#askHome(text))
    this.#homes.set(text, home)
    return home
  }

  async #askHome(text: string): Promise<Home> {
    const { queries } = this.#api
    const mayBeAlternateId = text !== '' && alternateIdFault(text) === null
    if (cmHandleIdFault(text) === null) {
      const { result, position } = await this.#ask(queries.reference, text, { reference: text })
      const { byId, byAlternateId } = result
      return {
        byId: byId.found ? { ...byId, position } : byId,
        byAlternateId: mayBeAlternateId ? byAlternateId : null,
      }
    }
    if (!mayBeAlternateId) return { byId: null, byAlternateId: null }
    const { result } = await this.#ask(queries.alternateId, text, { alternateId: text })
    return { byId: null, byAlternateId: result.cmHandle }
  }

  async #ask<Arguments, Result>(
    query: Query<Arguments, Result>,
    key: string,
    args: Arguments,
  ): Promise<Provenance & { readonly result: Result }> {
    const answer = answered(await this.#api.streams.query(TRUST_LEVEL, query, key, args, this.#demand))
    this.#provenances.push(answer)
    return answer
  }
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
