import t from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import { memoryProvider } from '../../../state-stores/memory/provider.js'
import { createTopic, newName, numbered, readAll, RecordingListener, valuesOf } from '../contract/harness.js'
import type { TopicSpec } from '../log.js'
import type { EmbeddedLog } from './embedded-log.js'
import { openEmbeddedLogAt } from './embedded-log.js'

const stores = memoryProvider()
let topics = 0

const openLog = (name: string): Promise<EmbeddedLog> =>
  openEmbeddedLogAt(stores, name, {
    clock: manualClock(),
    newIncarnation: () => `incarnation ${++topics}`,
    onCleanError: (error) => t.fail(error.message),
  })

t.test(
  'every name Kafka allows, and those of object properties, are topics, groups and writers of their own',
  async (t) => {
    const name = newName()
    const names = [
      '__proto__',
      'constructor',
      '__consumer_offsets',
      'a',
      'a.b',
      'a-b',
      'a_b',
      'A',
      '7',
      'x'.repeat(249),
    ]
    const log = await openLog(name)
    for (const topic of names) {
      await createTopic(log, { name: topic })
      await log.append(topic, 0, numbered(2, topic))
      const listener = new RecordingListener()
      const member = await log.join({ group: topic, topics: [topic], listener })
      await listener.until((seen) => seen.records().length === 2)
      await member.commit({ topic, partition: 0 }, { offset: topic.length, metadata: topic })
      await member.leave()
      await log.writer(topic)
    }
    await log.close()
    const reopened = await openLog(name)
    t.same((await reopened.topics()).map((topic) => topic.name).sort(), [...names].sort())
    for (const topic of names) {
      t.same(valuesOf(await readAll(reopened, { topic, partition: 0 })), [`${topic}0`, `${topic}1`])
      const member = await reopened.join({ group: topic, topics: [topic], listener: new RecordingListener() })
      t.same(await member.committed({ topic, partition: 0 }), { offset: topic.length, metadata: topic })
    }
    await reopened.close()
  },
)

t.test('when one of several topics is refused, none is created', async (t) => {
  const log = await openLog(newName())
  const name = await createTopic(log, { partitions: 2 })
  const spec: TopicSpec = {
    name: 'new',
    partitions: 1,
    cleanup: 'delete',
    retentionMs: -1,
    retentionBytes: -1,
    timestampType: 'CreateTime',
  }
  await t.rejects(log.createTopics([spec, { ...spec, name, partitions: 5 }]), { code: 'TOPIC_MISMATCH' })
  await t.rejects(log.createTopics([spec, { ...spec, partitions: 2 }]), { code: 'TOPIC_MISMATCH' }, 'named twice')
  for (const partitions of [0, -1, 1.5, NaN]) {
    await t.rejects(log.createTopics([spec, { ...spec, name: 'odd', partitions }]), RangeError)
  }
  t.same(
    (await log.topics()).map((topic) => topic.name),
    [name],
  )
  await log.close()
})

t.test('topics created at the same time get numbers of their own', async (t) => {
  const log = await openLog(newName())
  const names = Array.from({ length: 10 }, (_, i) => `t${i}`)
  await Promise.all(names.map((name) => createTopic(log, { name })))
  await Promise.all(names.map((name) => log.append(name, 0, numbered(1, name))))
  for (const topic of names) t.same(valuesOf(await readAll(log, { topic, partition: 0 })), [`${topic}0`])
  await log.close()
})

t.test('an append of nothing answers the end and writes nothing', async (t) => {
  const log = await openLog(newName())
  const topic = await createTopic(log)
  await log.append(topic, 0, numbered(3))
  t.match(await log.append(topic, 0, []), { baseOffset: 3 })
  t.same(await log.offsets({ topic, partition: 0 }), { start: 0, end: 3 })
  await log.close()
})

t.test('a topic made anew is another one, empty, and its consumers are given its partitions', async (t) => {
  const name = newName()
  const log = await openLog(name)
  const topic = await createTopic(log, { partitions: 1 })
  await log.append(topic, 0, numbered(3, 'old'))
  const listener = new RecordingListener()
  const member = await log.join({ group: 'group', topics: [topic], listener })
  await listener.until((seen) => seen.records().length === 3)
  await member.commit({ topic, partition: 0 }, { offset: 3, metadata: '' })
  const before = await log.topic(topic)
  const spec: TopicSpec = {
    ...{ name: topic, partitions: 2, cleanup: 'delete', retentionMs: -1, retentionBytes: -1 },
    timestampType: 'CreateTime',
  }
  await log.recreateTopic(spec)
  t.not((await log.topic(topic))?.incarnation, before?.incarnation)
  t.same(await readAll(log, { topic, partition: 0 }), [])
  await log.append(topic, 1, numbered(2, 'new'))
  await listener.until((seen) => seen.records().length === 5)
  t.equal(await member.committed({ topic, partition: 0 }), undefined)
  await log.close()
  const reopened = await openLog(name)
  t.same(valuesOf(await readAll(reopened, { topic, partition: 1 })), ['new0', 'new1'])
  t.same(await readAll(reopened, { topic, partition: 0 }), [])
  await reopened.close()
  await t.rejects(
    openLog(name).then((again) => again.recreateTopic({ ...spec, name: 'missing' })),
    {
      code: 'TOPIC_UNKNOWN',
    },
  )
})
