import { Kafka, logLevel } from 'kafkajs'
import t from 'tap'
import type { Test } from 'tap'
import * as zlib from 'node:zlib'
import { systemClock } from '../../../common/clock.js'
import {
  createTopic,
  gate,
  join,
  newName,
  numbered,
  readAll,
  readBehind,
  record,
  RecordingListener,
  valuesOf,
} from '../contract/harness.js'
import type { Log } from '../log.js'
import { Connection } from './connection.js'
import { openKafkaLog } from './kafka-log.js'
import { encodeBatch } from './protocol/record-batch.js'
import { produceRequest } from './protocol/requests.js'
import { realBrokers } from './real-brokers.js'
import { TopicDirectory } from './topic-directory.js'

const brokers = realBrokers(t)
const hasZstd = 'zstdDecompress' in zlib

async function open(t: Test, onFatal: (error: Error) => void = (error) => t.fail(error.message)): Promise<Log> {
  const log = await openKafkaLog({ brokers, clientId: 'real-broker', clock: systemClock, onFatal })
  t.teardown(() => log.close())
  return log
}

function foreignClient(): Kafka {
  return new Kafka({ brokers: [...brokers], clientId: 'foreign', logLevel: logLevel.NOTHING })
}

/** A topic made by somebody else. */
async function foreignTopic(settings: Readonly<Record<string, string>>): Promise<string> {
  const topic = newName()
  const admin = foreignClient().admin()
  await admin.connect()
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }))
  await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }], waitForLeaders: true })
  await admin.disconnect()
  return topic
}

if (brokers.length > 0) {
  for (const codec of ['gzip', 'snappy', 'lz4', ...(hasZstd ? ['zstd'] : [])]) {
    t.test(`SH-07 batches compressed with ${codec} are read`, async (t) => {
      const log = await open(t)
      const topic = await foreignTopic({ 'compression.type': codec })
      const texts = Array.from({ length: 3_000 }, (_, i) => `${'abc'.repeat(i % 40)} ${i * 7919}`)
      await log.append(
        topic,
        0,
        texts.map((text) => record(text, text)),
      )
      t.same(valuesOf(await readAll(log, { topic, partition: 0 })), texts)
    })
  }

  t.test(
    'SH-07 a codec that is not there is fatal, and named',
    { skip: hasZstd && 'this Node has zstd' },
    async (t) => {
      const topic = await foreignTopic({ 'compression.type': 'zstd' })
      const dead = gate()
      const errors: Error[] = []
      const log = await open(t, (error) => {
        errors.push(error)
        dead.open()
      })
      await log.append(topic, 0, numbered(3))
      await join(t, log, new RecordingListener(), { topics: [topic] })
      await dead.opened
      t.match(errors, [{ code: 'CODEC_UNSUPPORTED', message: /zstd/ }])
      await t.rejects(log.read({ topic, partition: 0 }, 0), { code: 'CODEC_UNSUPPORTED' })
    },
  )

  t.test('ME-01 one batch of 200,000 tombstones is read and delivered', async (t) => {
    const log = await open(t)
    const topic = await createTopic(log)
    const connection = new Connection({ brokers, clientId: 'foreign', requestTimeoutMs: 30_000 })
    const leader = await new TopicDirectory(connection, systemClock, 30_000).leader({ topic, partition: 0 })
    const tombstones = Array.from({ length: 200_000 }, (_, i) => record(`${i}`, null))
    const batch = encodeBatch(tombstones, systemClock.now())
    const [produced] = await connection.send(leader, produceRequest([{ topic, partition: 0, batch }], 30_000))
    await connection.close()
    t.match(produced, { errorCode: 0 })
    t.equal((await readAll(log, { topic, partition: 0 })).length, 200_000)
    const listener = new RecordingListener()
    await join(t, log, listener, { topics: [topic] })
    await listener.until((seen) => seen.records().length === 200_000)
    t.ok(listener.batches().every(({ records }) => records.length <= 10_000))
  })

  t.test("the brokers' own topics are none: a group's members tell each other secrets there", async (t) => {
    const log = await open(t)
    const topic = await createTopic(log)
    await log.append(topic, 0, numbered(1))
    const listener = new RecordingListener()
    await join(t, log, listener, { topics: [topic] })
    await listener.until((seen) => seen.records().length === 1)
    t.equal(await log.topic('__consumer_offsets'), undefined)
  })

  t.test('RS-01 a log that ends with an aborted transaction and its marker is read to its end', async (t) => {
    const log = await open(t)
    const topic = await createTopic(log)
    await log.append(topic, 0, numbered(2))
    const producer = foreignClient().producer({ transactionalId: newName(), maxInFlightRequests: 1, idempotent: true })
    await producer.connect()
    const transaction = await producer.transaction()
    await transaction.send({ topic, messages: [{ value: 'aborted', partition: 0 }] })
    await transaction.abort()
    await producer.disconnect()
    t.same(valuesOf(await readAll(log, { topic, partition: 0 })), ['v0', 'v1'])
    const at = { topic, partition: 0 }
    const behind = new RecordingListener({ onAssigned: () => Promise.resolve([{ ...at, offset: 2 }]) })
    await join(t, log, behind, { topics: [topic] })
    await behind.until((seen) => seen.passed().length > 0)
    t.same(behind.passed(), [{ ...at, next: (await log.offsets(at)).end }], 'it is told where no record is left')
    const listener = new RecordingListener()
    await join(t, log, listener, { topics: [topic] })
    await log.append(topic, 0, [record(null, 'after')])
    await listener.until((seen) => seen.values().includes('after'))
    t.same(listener.values(), ['v0', 'v1', 'after'])
  })

  t.test('RS-16 a writer killed inside its transaction is fenced by the next, and nothing of it is seen', async (t) => {
    const log = await open(t)
    const topic = await createTopic(log)
    const transactionalId = newName()
    const producer = foreignClient().producer({ transactionalId, maxInFlightRequests: 1, idempotent: true })
    await producer.connect()
    const transaction = await producer.transaction()
    await transaction.send({ topic, messages: [{ value: 'left open', partition: 0 }] })
    const writer = await log.writer(transactionalId)
    const { end } = await log.offsets({ topic, partition: 0 })
    t.ok(end >= 2, 'the broken transaction is over when the writer is open')
    const [appended] = await writer.append([{ topic, partition: 0, records: numbered(1) }])
    t.same(valuesOf(await readBehind(log, { topic, partition: 0 }, appended, 1)), ['v0'])
    await t.rejects(transaction.commit())
    await producer.disconnect()
  })

  t.test('RB-01 a batch that takes longer than the session time-out costs no membership', async (t) => {
    const log = await open(t)
    const topic = await createTopic(log, { partitions: 2 })
    const opened = gate()
    const listener = new RecordingListener({
      onBatch: ({ partition }) => (partition === 0 ? opened.opened : Promise.resolve()),
    })
    const member = await join(t, log, listener, { topics: [topic] })
    await log.append(topic, 0, numbered(1))
    await listener.until((seen) => seen.batches().length === 1)
    // The session time-out is 6 s; the log's own clock tells when more has passed.
    const { timestamp } = await log.append(topic, 1, numbered(1))
    for (let last = timestamp; last < timestamp + 7_000;) {
      const seen = listener.records().length
      last = (await log.append(topic, 1, numbered(1))).timestamp
      await listener.until((now) => now.records().length > seen)
    }
    opened.open()
    await listener.until((seen) => seen.batches('batch-done').some(({ partition }) => partition === 0))
    await member.commit({ topic, partition: 0 }, { offset: 1, metadata: '' })
    t.same(listener.partitions('revoked'), [])
  })

  t.test('of another topic of the same name than the start says, nothing is read', async (t) => {
    const log = await open(t)
    const topic = await createTopic(log)
    const at = { topic, partition: 0 }
    await log.append(topic, 0, numbered(3))
    const before = '00000000-0000-4000-8000-000000000000'
    const listener = new RecordingListener({
      onAssigned: () => Promise.resolve([{ ...at, offset: 1, incarnation: before }]),
    })
    const member = await join(t, log, listener, { topics: [topic] })
    await listener.until((seen) => seen.errors().some(({ message }) => message.includes('was made anew')))
    t.same(listener.values(), [])
    const { incarnation = '' } = (await log.topic(topic)) ?? {}
    member.pause(at)
    member.seek({ ...at, offset: 0, incarnation })
    member.resume(at)
    await listener.until((seen) => seen.records().length === 3)
    t.same(listener.values(), ['v0', 'v1', 'v2'])
  })

  t.test('RS-01 emptied batches move the position', { timeout: 120_000 }, async (t) => {
    const log = await open(t)
    const settings = { 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0.01', 'segment.ms': '100' }
    const topic = await foreignTopic(settings)
    const partition = { topic, partition: 0 }
    const idempotent = foreignClient().producer({ idempotent: true })
    await idempotent.connect()
    const messages = ['a', 'b', 'c'].map((key) => ({ key, value: 'old', partition: 0 }))
    await idempotent.send({ topic, messages })
    await idempotent.disconnect()
    for (const key of ['a', 'b', 'c']) await log.append(topic, 0, [record(key, 'new')])
    // Each append may close a segment, which the cleaner then takes.
    while ((await log.read(partition, 0, { maxRecords: 1 })).records[0]?.offset === 0)
      await log.append(topic, 0, [record('d', 'x')])
    const values = valuesOf(await readAll(log, partition))
    t.same(values.slice(0, 3), ['new', 'new', 'new'])
    const listener = new RecordingListener({ onAssigned: () => Promise.resolve([{ ...partition, offset: 1 }]) })
    await join(t, log, listener, { topics: [topic] })
    await listener.until((seen) => seen.records().length >= 3)
    t.same(listener.values().slice(0, 3), ['new', 'new', 'new'])
  })
}
