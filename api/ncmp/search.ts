import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CmHandleView, Condition, SearchArguments } from '../../processors/trust-level/views.js'
import { TRUST_LEVEL } from '../trust-level-queries.js'
import type { Api } from '../api.js'
import { demandOf, tellProvenance, worstOf } from '../positions.js'
import { decodeCursor, encodeCursor, minPositions, nextLink, parseLimit } from './paging.js'
import type { Cursor, CursorContext } from './paging.js'
import { walkSearch } from './search-walk.js'
import type { SearchPart, SearchWalk } from './search-walk.js'

export interface PagingQuery {
  readonly limit?: string
  readonly after?: string
}

interface Search extends SearchWalk {
  /** Partitions asked in the first round. */
  readonly firstParts: number
  readonly cursorContext: CursorContext
  readonly minOffsets: readonly number[] | null
}

/** Answers with a JSON array of texts, each once. */
export async function answerTexts(
  api: Api,
  request: FastifyRequest,
  reply: FastifyReply,
  conditions: readonly Condition[],
  fields: 'id' | 'alternateId',
): Promise<FastifyReply> {
  const search = startSearch(api, request, reply, conditions, fields)
  const seen = new Set<string>()
  const pieces: string[] = []
  for await (const parts of walkSearch(api, search)) {
    for (const part of parts) {
      // Ids are unique; an alternate id may be the id of a handle without one, and the answer is a set.
      const texts = fields === 'id' ? part.texts : part.texts.filter((text) => !seen.has(text) && seen.add(text))
      if (texts.length > 0) pieces.push(JSON.stringify(texts).slice(1, -1))
    }
  }
  tellPage(request, reply, search)
  return json(reply).send(`[${pieces.join(',')}]`)
}

/** Answers with a JSON array of objects: whole, when a limit was given; else as a stream that breaks off on a failure. */
export async function answerViews(
  api: Api,
  request: FastifyRequest,
  reply: FastifyReply,
  conditions: readonly Condition[],
  shape: (view: CmHandleView) => object,
): Promise<FastifyReply> {
  const search = startSearch(api, request, reply, conditions, 'view')
  const rounds = walkSearch(api, search)
  const first = await rounds.next()
  const firstParts: readonly SearchPart[] = first.done === true ? [] : first.value
  const pieces = jsonPieces(firstParts, rounds, shape)
  if (search.limit === Infinity) {
    tellProvenance(reply, firstParts)
    return json(reply).send(Readable.from(pieces, { objectMode: false }))
  }
  const whole: string[] = []
  for await (const piece of pieces) whole.push(piece)
  tellPage(request, reply, search)
  return json(reply).send(whole.join(''))
}

/** Errors: PARAMETER_INVALID, CURSOR_INVALID. */
function startSearch(
  api: Api,
  request: FastifyRequest,
  reply: FastifyReply,
  conditions: readonly Condition[],
  fields: SearchArguments['fields'],
): Search {
  const query = request.query as PagingQuery
  const { topic, partitions } = api.streams.journal(TRUST_LEVEL)
  const search = JSON.stringify([conditions, fields, request.routeOptions.url])
  const cursorContext = { partitions, search, now: api.clock.now() }
  const cursor = query.after === undefined ? null : decodeCursor(query.after, cursorContext)
  const demand = demandOf(api, request, reply)
  const progress =
    cursor?.progress.map((known) => ({ ...known })) ??
    Array.from({ length: partitions }, () => ({ after: null, done: false }))
  return {
    conditions,
    fields,
    limit: parseLimit(query.limit),
    demand:
      cursor === null
        ? demand
        : { ...demand, minPositions: [...minPositions(cursor, topic), ...(demand.minPositions ?? [])] },
    progress,
    firstParts: progress.filter(({ done }) => !done).length,
    provenances: [],
    minOffsets: cursor?.minOffsets ?? null,
    cursorContext,
  }
}

/**
 * The answer's positions, which are those of the first round; how old the oldest part of it is; and where the next page is, if
 * there is one.
 */
function tellPage(request: FastifyRequest, reply: FastifyReply, search: Search): void {
  const worst = worstOf(search.provenances)
  const first = search.provenances.slice(0, search.firstParts)
  tellProvenance(
    reply,
    first.map(({ position }) => ({ position, ...worst })),
  )
  if (search.progress.every((progress) => progress.done)) return
  const minOffsets = search.minOffsets ?? first.map(({ position }) => position.offset)
  const cursor: Cursor = { progress: search.progress, minOffsets }
  void reply.header('link', nextLink(request, encodeCursor(cursor, search.cursorContext)))
}

async function* jsonPieces(
  first: readonly SearchPart[],
  rounds: AsyncIterable<readonly SearchPart[]>,
  shape: (view: CmHandleView) => object,
): AsyncGenerator<string> {
  let opening = '['
  const pieceOf = (part: SearchPart): string => {
    const piece = opening + JSON.stringify(part.views.map(shape)).slice(1, -1)
    opening = ','
    return piece
  }
  for (const part of first) if (part.views.length > 0) yield pieceOf(part)
  for await (const parts of rounds) {
    for (const part of parts) if (part.views.length > 0) yield pieceOf(part)
  }
  yield opening === '[' ? '[]' : ']'
}

function json(reply: FastifyReply): FastifyReply {
  return reply.type('application/json; charset=utf-8')
}
