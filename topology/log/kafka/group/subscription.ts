import type { TopicPartition } from '../../log.js'
import { ByteReader } from '../protocol/byte-reader.js'
import { ByteWriter } from '../protocol/byte-writer.js'

/** Kafka's own consumer protocol, version 0, so that the usual tools show members and assignments. */
const version = 0

/** What a member tells the group about itself; further fields are left alone. */
export interface MemberData {
  /** What it holds now, and will until it is told otherwise. */
  readonly owned: readonly TopicPartition[]
  /** Of the assignment by which it holds that: the later one is right when two claim the same. */
  readonly generation: number
}

export interface Subscription extends MemberData {
  readonly topics: readonly string[]
}

export function encodeSubscription({ topics, owned, generation }: Subscription): Buffer {
  const writer = new ByteWriter().int16(version).int32(topics.length)
  for (const topic of topics) writer.string(topic)
  const data = Buffer.from(JSON.stringify({ owned: byTopic(owned), generation }))
  return writer.int32(data.length).raw(data).bytes()
}

/** A member whose data is not ours counts as one that holds nothing. */
export function decodeSubscription(bytes: Buffer): Subscription {
  const reader = new ByteReader(bytes)
  reader.int16()
  const topics = reader.array((item) => item.string())
  const data = reader.left >= 4 ? reader.raw(Math.max(0, reader.int32())) : Buffer.alloc(0)
  try {
    const { owned, generation } = JSON.parse(data.toString()) as {
      readonly owned: Readonly<Record<string, readonly number[]>>
      readonly generation: number
    }
    const partitions = Object.entries(owned).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic, partition })),
    )
    return { topics, owned: partitions, generation }
  } catch {
    return { topics, owned: [], generation: -1 }
  }
}

export function encodeAssignment(partitions: readonly TopicPartition[]): Buffer {
  const topics = Object.entries(byTopic(partitions))
  const writer = new ByteWriter().int16(version).int32(topics.length)
  for (const [topic, numbers] of topics) {
    writer.string(topic).int32(numbers.length)
    for (const number of numbers) writer.int32(number)
  }
  return writer.int32(0).bytes()
}

export function decodeAssignment(bytes: Buffer): TopicPartition[] {
  if (bytes.length === 0) return []
  const reader = new ByteReader(bytes)
  reader.int16()
  return reader
    .array((item) => {
      const topic = item.string()
      return item.array((numbers) => ({ topic, partition: numbers.int32() }))
    })
    .flat()
}

function byTopic(partitions: readonly TopicPartition[]): Record<string, number[]> {
  const found = new Map<string, number[]>()
  for (const { topic, partition } of partitions) found.set(topic, [...(found.get(topic) ?? []), partition])
  return Object.fromEntries(found)
}
