import type { ByteReader } from './byte-reader.js'
import { ByteWriter } from './byte-writer.js'
import type { AbortedTransaction } from './record-batch.js'

/** A request of one version of Kafka's protocol: its body, and how its answer is read. */
export interface Request<Answer> {
  readonly apiKey: number
  readonly apiVersion: number
  readonly apiName: string
  readonly body: Buffer
  /** How long the broker may take of its own accord, on top of the usual. */
  readonly waitMs?: number
  read(reader: ByteReader): Answer
}

const acksAll = -1
const noId = Buffer.alloc(16)
const readCommitted = 1

export interface TopicMetadata {
  readonly errorCode: number
  readonly name: string
  readonly id: string
  readonly isInternal: boolean
  /** Node ids by partition; -1 where there is no leader. */
  readonly leaders: readonly number[]
}

/** Metadata version 10, of these topics or of all: the first one that gives topic ids. (KIP-516) */
export function metadataRequest(topics: readonly string[] | 'all'): Request<TopicMetadata[]> {
  // What begins a flexible version's body belongs to its header, which kafkajs writes in the older form.
  const body = new ByteWriter().uvarint(0)
  if (topics === 'all') body.uvarint(0)
  else {
    body.uvarint(topics.length + 1)
    for (const topic of topics) body.raw(noId).compactString(topic).uvarint(0)
  }
  body.int8(0).int8(0).int8(0).uvarint(0)
  return {
    ...{ apiKey: 3, apiVersion: 10, apiName: 'Metadata', body: body.bytes() },
    read(reader) {
      reader.skipTags()
      reader.int32()
      reader.compactArray((broker) => {
        broker.int32()
        broker.compactString()
        broker.int32()
        broker.compactNullableString()
        broker.skipTags()
      })
      reader.compactNullableString()
      reader.int32()
      return reader.compactArray(readTopic)
    },
  }
}

function readTopic(reader: ByteReader): TopicMetadata {
  const [errorCode, name, id] = [reader.int16(), reader.compactString(), reader.raw(16).toString('hex')]
  const isInternal = reader.int8() !== 0
  const leaders: number[] = []
  reader.compactArray((partition) => {
    partition.int16()
    leaders[partition.int32()] = partition.int32()
    partition.int32()
    for (let lists = 0; lists < 3; lists++) partition.compactArray((nodes) => nodes.int32())
    partition.skipTags()
  })
  reader.int32()
  reader.skipTags()
  return { errorCode, name, id, isInternal, leaders }
}

export interface Produced {
  readonly topic: string
  readonly partition: number
  readonly errorCode: number
  readonly baseOffset: number
  /** -1 where the topic keeps the producers' stamps. */
  readonly logAppendTime: number
}

export interface ProduceData {
  readonly topic: string
  readonly partition: number
  readonly batch: Buffer
}

/** Produce version 7; resolves when all in-sync replicas have the batches. */
export function produceRequest(
  batches: readonly ProduceData[],
  timeoutMs: number,
  transactionalId: string | null = null,
): Request<Produced[]> {
  const bytes = batches.reduce((sum, { batch, topic }) => sum + batch.length + topic.length * 3 + 32, 256)
  const body = new ByteWriter(bytes).nullableString(transactionalId).int16(acksAll).int32(timeoutMs)
  const byTopic = new Map<string, ProduceData[]>()
  for (const data of batches) byTopic.set(data.topic, [...(byTopic.get(data.topic) ?? []), data])
  body.int32(byTopic.size)
  for (const [topic, parts] of byTopic) {
    body.string(topic).int32(parts.length)
    for (const { partition, batch } of parts) body.int32(partition).int32(batch.length).raw(batch)
  }
  return {
    ...{ apiKey: 0, apiVersion: 7, apiName: 'Produce', body: body.bytes() },
    read: (reader) =>
      reader
        .array((answer) => {
          const topic = answer.string()
          return answer.array((item): Produced => {
            const [partition, errorCode] = [item.int32(), item.int16()]
            const [baseOffset, logAppendTime] = [item.int64(), item.int64()]
            item.int64()
            return { topic, partition, errorCode, baseOffset, logAppendTime }
          })
        })
        .flat(),
  }
}

export interface FetchPartition {
  readonly topic: string
  /** Another topic of the same name is not read. */
  readonly topicId: string
  readonly partition: number
  readonly offset: number
  readonly maxBytes: number
}

export interface Fetched {
  readonly topic: string
  readonly partition: number
  readonly errorCode: number
  /** Up to here committed records can be read. */
  readonly lastStableOffset: number
  readonly logStart: number
  readonly aborted: readonly AbortedTransaction[]
  readonly bytes: Buffer
}

export interface FetchOptions {
  readonly maxWaitMs: number
  readonly maxBytes: number
}

/**
 * Fetch version 13, of committed records; answers at once when there are any, else after `maxWaitMs`. The first version that
 * names topics by their ids. (KIP-516)
 */
export function fetchRequest(partitions: readonly FetchPartition[], options: FetchOptions): Request<Fetched[]> {
  // As in `metadataRequest`, the first byte belongs to the header.
  const body = new ByteWriter().uvarint(0).int32(-1).int32(options.maxWaitMs).int32(1).int32(options.maxBytes)
  body
    .int8(readCommitted)
    .int32(0)
    .int32(-1)
    .uvarint(partitions.length + 1)
  for (const { topicId, partition, offset, maxBytes } of partitions) {
    body.raw(Buffer.from(topicId, 'hex')).uvarint(2)
    body.int32(partition).int32(-1).int64(offset).int32(-1).int64(-1).int32(maxBytes).uvarint(0).uvarint(0)
  }
  body.uvarint(1).compactString('').uvarint(0)
  const topics = new Map(partitions.map(({ topicId, topic }) => [topicId, topic]))
  return {
    ...{ apiKey: 1, apiVersion: 13, apiName: 'Fetch', body: body.bytes(), waitMs: options.maxWaitMs },
    read(reader) {
      reader.skipTags()
      reader.int32()
      const errorCode = reader.int16()
      reader.int32()
      return reader
        .compactArray((answer) => {
          const topic = topics.get(answer.raw(16).toString('hex')) ?? ''
          const fetched = answer.compactArray((item) => readFetched(item, topic, errorCode))
          answer.skipTags()
          return fetched
        })
        .flat()
    },
  }
}

function readFetched(reader: ByteReader, topic: string, outerCode: number): Fetched {
  const [partition, innerCode] = [reader.int32(), reader.int16()]
  reader.int64()
  const [lastStableOffset, logStart] = [reader.int64(), reader.int64()]
  const aborted = reader.compactArray((item) => {
    const transaction = { producerId: item.int64(), firstOffset: item.int64() }
    item.skipTags()
    return transaction
  })
  reader.int32()
  const bytes = reader.raw(Math.max(0, reader.uvarint() - 1))
  reader.skipTags()
  return { topic, partition, errorCode: outerCode || innerCode, lastStableOffset, logStart, aborted, bytes }
}

export interface ListedOffset {
  readonly topic: string
  readonly partition: number
  readonly errorCode: number
  /** -1: no record has the timestamp, or a later one. */
  readonly offset: number
}

/** ListOffsets version 2, of committed records; a partition that is named twice is asked for once. */
export function listOffsetsRequest(
  partitions: readonly { readonly topic: string; readonly partition: number }[],
  timestamp: number,
): Request<ListedOffset[]> {
  const byTopic = partitionsByTopic(partitions)
  const body = new ByteWriter().int32(-1).int8(readCommitted).int32(byTopic.size)
  for (const [topic, numbers] of byTopic) {
    body.string(topic).int32(numbers.size)
    for (const number of numbers) body.int32(number).int64(timestamp)
  }
  return {
    ...{ apiKey: 2, apiVersion: 2, apiName: 'ListOffsets', body: body.bytes() },
    read(reader) {
      reader.int32()
      return reader
        .array((answer) => {
          const topic = answer.string()
          return answer.array((item): ListedOffset => {
            const [partition, errorCode] = [item.int32(), item.int16()]
            item.int64()
            return { topic, partition, errorCode, offset: item.int64() }
          })
        })
        .flat()
    },
  }
}

function partitionsByTopic(
  partitions: readonly { readonly topic: string; readonly partition: number }[],
): ReadonlyMap<string, ReadonlySet<number>> {
  const byTopic = new Map<string, Set<number>>()
  for (const { topic, partition } of partitions) {
    byTopic.set(topic, (byTopic.get(topic) ?? new Set()).add(partition))
  }
  return byTopic
}

/** AddPartitionsToTxn version 1; answers the first error code that is none of success. */
export function addPartitionsRequest(
  transactionalId: string,
  identity: ProducerIdentity,
  partitions: readonly { readonly topic: string; readonly partition: number }[],
): Request<number> {
  const byTopic = partitionsByTopic(partitions)
  const body = new ByteWriter().string(transactionalId).int64(identity.producerId).int16(identity.producerEpoch)
  body.int32(byTopic.size)
  for (const [topic, numbers] of byTopic) {
    body.string(topic).int32(numbers.size)
    for (const number of numbers) body.int32(number)
  }
  return {
    ...{ apiKey: 24, apiVersion: 1, apiName: 'AddPartitionsToTxn', body: body.bytes() },
    read(reader) {
      reader.int32()
      const codes = reader.array((topic) => {
        topic.string()
        return topic.array((partition) => {
          partition.int32()
          return partition.int16()
        })
      })
      return codes.flat().find((code) => code !== 0) ?? 0
    },
  }
}

/** EndTxn version 1, which commits; answers the error code. */
export function commitRequest(transactionalId: string, identity: ProducerIdentity): Request<number> {
  const body = new ByteWriter().string(transactionalId).int64(identity.producerId).int16(identity.producerEpoch).int8(1)
  return {
    ...{ apiKey: 26, apiVersion: 1, apiName: 'EndTxn', body: body.bytes() },
    read(reader) {
      reader.int32()
      return reader.int16()
    },
  }
}

export interface ProducerIdentity {
  readonly producerId: number
  readonly producerEpoch: number
}

/**
 * InitProducerId version 3: fences whoever held the transactional id, ends what it left open, and answers the new
 * identity. With the identity held so far it is refused to the one who was fenced meanwhile. (KIP-360)
 */
export function initProducerIdRequest(
  transactionalId: string,
  transactionTimeoutMs: number,
  held: ProducerIdentity = { producerId: -1, producerEpoch: -1 },
): Request<ProducerIdentity & { readonly errorCode: number }> {
  const body = new ByteWriter().uvarint(0).compactString(transactionalId).int32(transactionTimeoutMs)
  body.int64(held.producerId).int16(held.producerEpoch).uvarint(0)
  return {
    ...{ apiKey: 22, apiVersion: 3, apiName: 'InitProducerId', body: body.bytes() },
    read(reader) {
      reader.skipTags()
      reader.int32()
      const [errorCode, producerId, producerEpoch] = [reader.int16(), reader.int64(), reader.int16()]
      return { errorCode, producerId, producerEpoch }
    },
  }
}
