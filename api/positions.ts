import type { FastifyReply, FastifyRequest } from 'fastify'
import { cut } from '../common/errors.js'
import type { Demand, Position, Provenance, QueryResult } from '../topology/streams.js'
import { ApiError } from './errors.js'
import { queryError } from './http-status.js'

/** A position as clients see it: `topic/partition/offset`. */
export function positionText(position: Position): string {
  return `${position.topic}/${position.partition}/${position.offset}`
}

/** What the request's headers demand of an answer. Errors: PARAMETER_INVALID. (trust levels, section 10) */
export function demandOf(request: FastifyRequest): Demand {
  const minPositions = header(request, 'x-pulsefold-min-position')
  const maxStaleness = header(request, 'x-pulsefold-max-staleness-ms')
  return {
    ...(minPositions !== undefined && { minPositions: parsePositions(minPositions) }),
    ...(maxStaleness !== undefined && { maxStalenessMs: parseStaleness(maxStaleness) }),
  }
}

/** Tells with the answer from which copies it comes: a position each by comma, the lesser role, the greatest staleness. */
export function tellProvenance(reply: FastifyReply, provenances: readonly Provenance[]): void {
  if (provenances.length === 0) return
  const role = provenances.some((provenance) => provenance.role === 'standby') ? 'standby' : 'active'
  const stalenessMs = Math.max(...provenances.map((provenance) => provenance.stalenessMs))
  tellPositions(
    reply,
    provenances.map((provenance) => provenance.position),
  )
  void reply.header('x-pulsefold-role', role).header('x-pulsefold-staleness-ms', String(Math.ceil(stalenessMs)))
}

/** The highest position of each partition, by comma. */
export function tellPositions(reply: FastifyReply, positions: readonly Position[]): void {
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

/** The result, or the refusal as an ApiError. */
export function answered<Result>(result: QueryResult<Result>): Provenance & { readonly result: Result } {
  if (!result.ok) throw queryError(result.reason, result.message, result.retryAfterMs)
  return result
}

function parsePositions(text: string): readonly Position[] {
  return text.split(',').map((part) => {
    const match = /^\s*([A-Za-z0-9._-]{1,249})\/(\d{1,9})\/(\d{1,15})\s*$/.exec(part)
    if (match === null) {
      throw new ApiError(
        'PARAMETER_INVALID',
        `x-pulsefold-min-position: ${cut(part)} is not topic/partition/offset (several by comma)`,
      )
    }
    return { topic: match[1] ?? '', partition: Number(match[2]), offset: Number(match[3]) }
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
