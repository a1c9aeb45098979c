import { randomUUID } from 'node:crypto'
import type { Admin, Producer } from 'kafkajs'
import { CompressionTypes, Kafka, logLevel } from 'kafkajs'
import type { Test } from 'tap'
import type { NewRecord, TopicPartition } from '../log.js'

/** For tests: somebody else's client of the same brokers, plain kafkajs. */
export interface ForeignClient {
  readonly admin: Admin
  readonly producer: Producer
  /** Sends records to a partition, with their keys, headers and stamps as they are, in portions of 5,000. */
  readonly append: (
    at: TopicPartition,
    records: readonly NewRecord[],
    options?: { readonly gzip?: boolean },
  ) => Promise<void>
  /** As `append`, in a transaction that is then aborted. */
  readonly appendAborted: (at: TopicPartition, records: readonly NewRecord[]) => Promise<void>
  readonly createTopic: (
    topic: string,
    partitions: number,
    settings?: Readonly<Record<string, string>>,
  ) => Promise<void>
  readonly growTopic: (topic: string, partitions: number) => Promise<void>
  readonly deleteTopic: (topic: string) => Promise<void>
  /** Moves the log start, as retention does. */
  readonly deleteBefore: (at: TopicPartition, offset: number) => Promise<void>
  /** Client ids of a group's members. */
  readonly members: (group: string) => Promise<string[]>
}

/**
 * kafkajs groups what it sends by copying all before for each record: 130,000 in one send keep the process, and what is tested in it,
 * from doing anything else for a quarter of a minute and more.
 */
const MAX_SENT = 5000

/** Connected until the test ends. */
export async function foreignClient(t: Test, brokers: readonly string[]): Promise<ForeignClient> {
  const kafka = new Kafka({ brokers: [...brokers], clientId: `foreign-${randomUUID()}`, logLevel: logLevel.NOTHING })
  const [admin, producer] = [kafka.admin(), kafka.producer({ allowAutoTopicCreation: false })]
  await Promise.all([admin.connect(), producer.connect()])
  t.teardown(() => Promise.all([admin.disconnect(), producer.disconnect()]))
  /** The broker that is asked learns of a change a little later than the one that made it. */
  const untilLed = async (topic: string, partitions: number): Promise<void> => {
    for (;;) {
      const { topics } = await admin.fetchTopicMetadata({ topics: [topic] }).catch(() => ({ topics: [] }))
      const led = topics[0]?.partitions.filter(({ leader }) => leader >= 0) ?? []
      if (led.length === partitions) return
    }
  }
  return {
    admin,
    producer,
    async append({ topic, partition }, records, { gzip = false } = {}) {
      for (let at = 0; at < records.length; at += MAX_SENT) {
        await producer.send({
          topic,
          compression: gzip ? CompressionTypes.GZIP : CompressionTypes.None,
          messages: records.slice(at, at + MAX_SENT).map(({ key, value, headers = [], timestamp }) => ({
            ...{ partition, key, value, headers: headersOf(headers) },
            ...(timestamp !== undefined && { timestamp: String(timestamp) }),
          })),
        })
      }
    },
    async appendAborted({ topic, partition }, records) {
      const transactional = kafka.producer({ transactionalId: randomUUID(), maxInFlightRequests: 1, idempotent: true })
      await transactional.connect()
      const transaction = await transactional.transaction()
      await transaction.send({ topic, messages: records.map(({ key, value }) => ({ partition, key, value })) })
      await transaction.abort()
      await transactional.disconnect()
    },
    async createTopic(topic, partitions, settings = {}) {
      const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }))
      const made = { topic, numPartitions: partitions, configEntries }
      await admin.createTopics({ topics: [made], waitForLeaders: false })
      await untilLed(topic, partitions)
    },
    async growTopic(topic, partitions) {
      await admin.createPartitions({ topicPartitions: [{ topic, count: partitions }] })
      await untilLed(topic, partitions)
      // A producer that knows the topic would leave out, without a word, what is for partitions that it does not know.
      await producer.disconnect()
      await producer.connect()
    },
    async deleteTopic(topic) {
      await admin.deleteTopics({ topics: [topic] })
      // Until the broker has learnt of it, what is made and written under that name goes to the old one, and with it.
      while ((await admin.listTopics()).includes(topic));
    },
    async deleteBefore({ topic, partition }, offset) {
      // Makes kafkajs know the topic's leaders.
      await admin.fetchTopicOffsets(topic)
      await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] })
    },
    async members(group) {
      const { groups } = await admin.describeGroups([group])
      return groups[0]?.members.map(({ clientId }) => clientId) ?? []
    },
  }
}

/** Without a prototype, so that a header may be called `__proto__`. */
function headersOf(headers: NonNullable<NewRecord['headers']>): Record<string, Buffer | Buffer[]> {
  const all = Object.create(null) as Record<string, Buffer | Buffer[]>
  for (const [name, value] of headers) {
    const before = all[name]
    all[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value]
  }
  return all
}
