import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { cut } from '../../common/errors.js'
import type { Position } from '../../topology/streams.js'
import { ApiError } from '../errors.js'
import { isObject } from './json-values.js'
import type { PartitionProgress } from './search-walk.js'

/** Where the next page of a search begins. Opaque to clients. (trust levels, section 10) */
export interface Cursor {
  readonly progress: readonly PartitionProgress[]
  /** Journal offsets of the first page, one a partition: later pages come from no older state. */
  readonly minOffsets: readonly number[]
}

export interface CursorContext {
  readonly partitions: number
  /** Names the search, so that a cursor is not used with another. */
  readonly search: string
  readonly now: number
}

const MAX_AGE_MS = 24 * 60 * 60 * 1000
const MAX_LIMIT = 100_000

export function encodeCursor(cursor: Cursor, context: CursorContext): string {
  const after = cursor.progress.map(({ after, done }) => (done ? true : after))
  const body = { v: 1, search: fingerprint(context.search), at: context.now, after, min: cursor.minOffsets }
  return Buffer.from(JSON.stringify(body)).toString('base64url')
}

/** Errors: CURSOR_INVALID when it is not ours, of another search, or older than a day. */
export function decodeCursor(text: string, context: CursorContext): Cursor {
  const body = parse(text)
  if (!isObject(body) || body['v'] !== 1) throw refused('is none of this service')
  const { search, at, after, min } = body
  if (search !== fingerprint(context.search)) throw refused('belongs to another search')
  // Another instance's clock may be ahead, and this one's may have been set back.
  if (typeof at !== 'number' || Math.abs(context.now - at) > MAX_AGE_MS) throw refused('is too old')
  const isList = (list: unknown): list is unknown[] => Array.isArray(list) && list.length === context.partitions
  if (!isList(after) || !isList(min) || !after.every(isAfter) || !min.every(isOffset)) {
    throw refused('is none of this service')
  }
  return {
    progress: after.map((key) => ({ after: key === true ? null : key, done: key === true })),
    minOffsets: min,
  }
}

/** `?limit=`: Infinity when absent. Errors: PARAMETER_INVALID. */
export function parseLimit(text: string | undefined): number {
  if (text === undefined) return Infinity
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new ApiError('PARAMETER_INVALID', `limit: ${cut(text)} is not a number from 1 to ${MAX_LIMIT}`)
}

/** Header value that leads to the next page. */
export function nextLink(request: FastifyRequest, cursor: string): string {
  const url = new URL(request.url, 'http://localhost')
  url.searchParams.set('after', cursor)
  return `<${url.pathname}${url.search}>; rel="next"`
}

export function minPositions(cursor: Cursor, topic: string): readonly Position[] {
  return cursor.minOffsets.map((offset, partition) => ({ topic, partition, offset }))
}

const isAfter = (key: unknown): key is string | true | null => key === true || key === null || typeof key === 'string'
const isOffset = (offset: unknown): offset is number => Number.isSafeInteger(offset)

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

function fingerprint(search: string): string {
  return createHash('sha256').update(search).digest('base64url').slice(0, 16)
}

function refused(why: string): ApiError {
  return new ApiError('CURSOR_INVALID', `after: this cursor ${why}`)
}
