import type { FastifyReply, FastifyRequest } from 'fastify'
import { cut } from '../common/errors.js'
import type { Demand, Position, Provenance, QueryResult, Streams } from '../topology/streams.js'
import type { Api } from './api.js'
import { clientGone } from './client-gone.js'
import { ApiError } from './errors.js'
import { queryError } from './http-status.js'

/** A position as clients see it: `topic/partition/offset`. */
export function positionText(position: Position): string {
  return `${position.topic}/${position.partition}/${position.offset}`
}

/**
 * What the request's headers demand of an answer, while somebody waits for it. Errors: PARAMETER_INVALID, also for a partition that is in no journal: it
 * would be reached never, or at once. (trust levels, section 10)
 */
export function demandOf({ streams }: Pick<Api, 'streams'>, request: FastifyRequest, reply: FastifyReply): Asked {
  const minPositions = header(request, 'x-pulsefold-min-position')
  const maxStaleness = header(request, 'x-pulsefold-max-staleness-ms')
  let signal: AbortSignal | undefined
  return {
    ...(minPositions !== undefined && { minPositions: parsePositions(minPositions, streams) }),
    ...(maxStaleness !== undefined && { maxStalenessMs: parseStaleness(maxStaleness) }),
    // A function and no getter, which would give each object literal a hidden class of its own: it would live until the next full
    // collection, and the whole request with it.
    signal: () => (signal ??= clientGone(reply)),
  }
}

/** Of several copies that an answer comes from: the lesser role, the greatest staleness. */
export function worstOf(provenances: readonly Omit<Provenance, 'position'>[]): Omit<Provenance, 'position'> {
  return {
    role: provenances.some(({ role }) => role === 'standby') ? 'standby' : 'active',
    stalenessMs: Math.max(0, ...provenances.map(({ stalenessMs }) => stalenessMs)),
  }
}

/** Tells with the answer from which copies it comes: a position each by comma, the lesser role, the greatest staleness. */
export function tellProvenance(reply: FastifyReply, provenances: readonly Provenance[]): void {
  if (provenances.length === 0) return
  const { role, stalenessMs } = worstOf(provenances)
  tellPositions(
    reply,
    provenances.map(({ position }) => position),
  )
  void reply.header('x-pulsefold-role', role).header('x-pulsefold-staleness-ms', String(Math.ceil(stalenessMs)))
}

/** The highest position of each partition, by comma. */
export function tellPositions(reply: FastifyReply, positions: readonly Position[]): void {
  if (positions.length === 1 && positions[0] !== undefined) {
    void reply.header('x-pulsefold-position', positionText(positions[0]))
    return
  }
  const byTopic = new Map<string, Map<number, Position>>()
  for (const position of positions) {
    const highest = byTopic.get(position.topic) ?? new Map<number, Position>()
    byTopic.set(position.topic, highest)
    const known = highest.get(position.partition)
    if (known === undefined || known.offset < position.offset) highest.set(position.partition, position)
  }
  const texts = [...byTopic.values()].flatMap((highest) => [...highest.values()].map(positionText))
  if (texts.length > 0) void reply.header('x-pulsefold-position', texts.join(','))
}

/** What a request asks of its answer; the signal is aborted when the caller has gone. */
export interface Asked extends Demand {
  readonly signal: () => AbortSignal
}

/** The result, or the refusal as an ApiError. */
export function answered<Result>(result: QueryResult<Result>): Provenance & { readonly result: Result } {
  if (!result.ok) throw queryError(result.reason, result.message, result.retryAfterMs)
  return result
}

function parsePositions(text: string, streams: Streams): readonly Position[] {
  const journals = streams.processors.map(({ name }) => streams.journal(name))
  return text.split(',').map((part) => {
    const match = /^\s*([A-Za-z0-9._-]{1,249})\/(\d{1,9})\/(\d{1,15})\s*$/.exec(part)
    const [, topic = '', partition, offset] = match ?? []
    const refused = (what: string): ApiError =>
      new ApiError('PARAMETER_INVALID', `x-pulsefold-min-position: ${cut(part.trim())} ${what}`)
    if (match === null) throw refused('is not topic/partition/offset (several by comma)')
    const journal = journals.find((known) => known.topic === topic)
    if (journal === undefined)
      throw refused(`is in no journal; these are: ${journals.map((known) => known.topic).join(', ')}`)
    if (Number(partition) >= journal.partitions) throw refused(`is in none of the ${journal.partitions} partitions`)
    return { topic, partition: Number(partition), offset: Number(offset) }
  })
}

function parseStaleness(text: string): number {
  if (!/^\d{1,12}$/.test(text)) {
    throw new ApiError('PARAMETER_INVALID', `x-pulsefold-max-staleness-ms: ${cut(text)} is not a number of ms`)
  }
  return Number(text)
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(',') : value
}
