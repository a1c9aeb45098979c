import type { FastifyInstance } from 'fastify'
import { cut } from '../../common/errors.js'
import type { Log, LogRecord, RecordBatch } from '../../topology/log/log.js'
import { isAuditedTopic } from '../../topology/names.js'
import type { Api } from '../api.js'
import { checkAuditor } from '../audit/guard.js'
import { ApiError } from '../errors.js'
import { base64Record, readableRecord } from './record-json.js'
import { ownErrors } from './schemas.js'

interface Route {
  Params: { topic: string }
  Querystring: { partition?: number; offset?: number; limit: number; encoding?: 'base64' }
}

const MAX_RECORDS = 10_000
/** Of one answer, shared by the partitions read. */
const MAX_BYTES = 8 * 1024 * 1024

/**
 * GET /ops/topics/{topic}/records: any topic of the log, from an offset; journals, changelogs and digests for auditors only.
 * (trust levels, section 10)
 */
export function registerTopicRecords(app: FastifyInstance, api: Api): void {
  app.get<Route>(
    '/ops/topics/:topic/records',
    {
      schema: {
        tags: ['operations'],
        summary: 'Records of a topic: of one partition, or of all merged by timestamp',
        description: 'Journals, changelogs and digests (by the end of the name) ask for the token of /audit.',
        params: { type: 'object', properties: { topic: { type: 'string' } } },
        querystring: {
          type: 'object',
          properties: {
            partition: { type: 'integer', minimum: 0, description: 'Absent: all' },
            offset: { type: 'integer', minimum: 0, description: 'Where to begin; absent: at the first record' },
            limit: { type: 'integer', minimum: 1, maximum: MAX_RECORDS, default: 100, description: 'Most records' },
            encoding: { type: 'string', enum: ['base64'], description: 'Key, value and header values as bytes' },
          },
        },
        response: {
          200: {
            description: '`next` names for each partition the offset to go on from',
            type: 'object',
            properties: {
              topic: { type: 'string' },
              records: { type: 'array', items: { type: 'object', additionalProperties: true } },
              next: { type: 'object', additionalProperties: { type: 'integer' } },
            },
          },
          ...ownErrors,
        },
      },
    },
    async (request, reply) => {
      const { topic } = request.params
      if (isAuditedTopic(topic)) checkAuditor(request, api.auditToken)
      const { limit, encoding } = request.query
      const batches = await readBatches(api.streams.log, topic, request.query)
      const { merged, next } = mergeByTimestamp(batches, limit)
      const decode = (record: LogRecord): unknown => api.decodeRecord(topic, record)
      const records = merged.map(({ partition, record }) =>
        encoding === 'base64' ? base64Record(partition, record) : readableRecord(partition, record, decode),
      )
      void reply.type('application/json; charset=utf-8')
      return `{"topic":${JSON.stringify(topic)},"records":[${records.join(',')}],"next":${JSON.stringify(next)}}`
    },
  )
}

/** Of one partition from an offset, or of all. Errors: TOPIC_NOT_FOUND, PARAMETER_INVALID. */
export async function readBatches(
  log: Log,
  topic: string,
  query: Pick<Route['Querystring'], 'partition' | 'offset' | 'limit'>,
): Promise<readonly RecordBatch[]> {
  const described = await log.topic(topic)
  if (described === undefined) throw new ApiError('TOPIC_NOT_FOUND', `topic ${cut(topic)} does not exist`)
  const { partition, offset, limit } = query
  if (partition !== undefined && partition >= described.partitions) {
    throw new ApiError('PARAMETER_INVALID', `partition: ${topic} has partitions 0 to ${described.partitions - 1}`)
  }
  const partitions = partition === undefined ? [...Array(described.partitions).keys()] : [partition]
  const maxBytes = Math.ceil(MAX_BYTES / partitions.length)
  return Promise.all(
    partitions.map(async (one) => {
      const topicPartition = { topic, partition: one }
      const { start, end } = await log.offsets(topicPartition)
      if (partition !== undefined && offset !== undefined && (offset < start || offset > end)) {
        throw new ApiError('PARAMETER_INVALID', `offset: ${topic}/${one} has offsets ${start} to ${end}`)
      }
      const from = Math.min(Math.max(offset ?? start, start), end)
      return log.read(topicPartition, from, { maxRecords: limit, maxBytes })
    }),
  )
}

interface Merged {
  readonly merged: readonly { readonly partition: number; readonly record: LogRecord }[]
  readonly next: Readonly<Record<string, number>>
}

/** The `limit` first by timestamp; within a partition the order is that of offsets, whatever the timestamps. */
export function mergeByTimestamp(batches: readonly RecordBatch[], limit: number): Merged {
  const heads = batches.map((batch) => ({ batch, taken: 0 }))
  const merged: { partition: number; record: LogRecord }[] = []
  while (merged.length < limit) {
    let first: (typeof heads)[number] | undefined
    for (const head of heads) {
      const record = head.batch.records[head.taken]
      const best = first?.batch.records[first.taken]
      if (record !== undefined && (best === undefined || record.timestamp < best.timestamp)) first = head
    }
    const record = first?.batch.records[first.taken]
    if (first === undefined || record === undefined) break
    merged.push({ partition: first.batch.partition, record })
    first.taken++
  }
  const next = Object.fromEntries(
    heads.map(({ batch, taken }) => [batch.partition, batch.records[taken]?.offset ?? batch.next]),
  )
  return { merged, next }
}
