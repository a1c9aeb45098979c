import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Share, TopicPartition } from '../../log.js'
import { ByteReader } from '../protocol/byte-reader.js'
import { ByteWriter } from '../protocol/byte-writer.js'

const MAX_JSON_BYTES = 64 * 1024 * 1024

/** Kafka's own consumer protocol, version 0, so that the usual tools show members and assignments. */
const version = 0

/** What a member tells the group about itself; further fields are left alone. */
export interface MemberData {
  /** What it holds now, and will until it is told otherwise. */
  readonly owned: readonly TopicPartition[]
  /** Of the assignment by which it holds that: the later one is right when two claim the same. */
  readonly generation: number
  /** What its application tells all members. */
  readonly data: Buffer
}

/** A member's share, and what all see of it. */
export interface AssignedMember extends Share {
  readonly id: string
  readonly data: Buffer
}

export interface Subscription extends MemberData {
  readonly topics: readonly string[]
}

export function encodeSubscription({ topics, owned, generation, data }: Subscription): Buffer {
  const writer = new ByteWriter().int16(version).int32(topics.length)
  for (const topic of topics) writer.string(topic)
  return writeJson(writer, { owned: byTopic(owned), generation, data: data.toString('latin1') })
}

/** A member whose data is not ours counts as one that holds nothing. */
export function decodeSubscription(bytes: Buffer): Subscription {
  const reader = new ByteReader(bytes)
  reader.int16()
  const topics = reader.array((item) => item.string())
  try {
    const { owned, generation, data } = readJson(reader) as {
      readonly owned: ByTopic
      readonly generation: number
      readonly data: string
    }
    return { topics, owned: fromTopics(owned), generation, data: Buffer.from(data, 'latin1') }
  } catch {
    return { topics, owned: [], generation: -1, data: Buffer.alloc(0) }
  }
}

/** What one member gets, with the table of all members behind it. */
export function encodeAssignment(active: readonly TopicPartition[], members: readonly AssignedMember[]): Buffer {
  const topics = Object.entries(byTopic(active))
  const writer = new ByteWriter().int16(version).int32(topics.length)
  for (const [topic, numbers] of topics) {
    writer.string(topic).int32(numbers.length)
    for (const number of numbers) writer.int32(number)
  }
  const table = members.map(({ id, data, active: held, standby }) => ({
    ...{ id, data: data.toString('latin1') },
    ...{ active: byTopic(held), standby: byTopic(standby) },
  }))
  return writeJson(writer, { members: table })
}

export interface Assignment {
  readonly active: readonly TopicPartition[]
  readonly members: readonly AssignedMember[]
}

export function decodeAssignment(bytes: Buffer): Assignment {
  if (bytes.length === 0) return { active: [], members: [] }
  const reader = new ByteReader(bytes)
  reader.int16()
  const active = reader
    .array((item) => {
      const topic = item.string()
      return item.array((numbers) => ({ topic, partition: numbers.int32() }))
    })
    .flat()
  try {
    const { members } = readJson(reader) as {
      readonly members: readonly { id: string; data: string; active: ByTopic; standby: ByTopic }[]
    }
    return {
      active,
      members: members.map(({ id, data, active: held, standby }) => ({
        ...{ id, data: Buffer.from(data, 'latin1') },
        ...{ active: fromTopics(held), standby: fromTopics(standby) },
      })),
    }
  } catch {
    return { active, members: [] }
  }
}

type ByTopic = Readonly<Record<string, readonly number[]>>

function byTopic(partitions: readonly TopicPartition[]): ByTopic {
  const found = new Map<string, number[]>()
  for (const { topic, partition } of partitions) found.set(topic, [...(found.get(topic) ?? []), partition])
  return Object.fromEntries(found)
}

function fromTopics(topics: ByTopic): TopicPartition[] {
  return Object.entries(topics).flatMap(([topic, numbers]) => numbers.map((partition) => ({ topic, partition })))
}

/**
 * Deflated: a broker keeps all members' in one record, of a mebibyte at most, and each assignment tells of all members. 20 of them
 * with 512 partitions would take more.
 */
function writeJson(writer: ByteWriter, value: unknown): Buffer {
  const bytes = deflateRawSync(JSON.stringify(value))
  return writer.int32(bytes.length).raw(bytes).bytes()
}

/** Throws when there is none. */
function readJson(reader: ByteReader): unknown {
  const bytes = reader.raw(Math.max(0, reader.int32()))
  return JSON.parse(inflateRawSync(bytes, { maxOutputLength: MAX_JSON_BYTES }).toString())
}
