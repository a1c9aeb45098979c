import type { ContractCase } from './harness.js'
import { createTopic, newName } from './harness.js'

export const topicCases: readonly ContractCase[] = [
  {
    name: 'a created topic is described, an unknown one is not',
    async run(t, harness) {
      const log = await harness.open(t)
      const name = await createTopic(log, { partitions: 3 })
      const described = await log.topic(name)
      t.match(described, { name, partitions: 3, incarnation: /./ })
      t.same(
        (await log.topics()).find((topic) => topic.name === name),
        described,
      )
      t.equal(await log.topic(newName()), undefined)
    },
  },
  {
    name: 'names of object properties are unknown topics',
    async run(t, harness) {
      const log = await harness.open(t)
      for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
        t.equal(await log.topic(name), undefined)
        await t.rejects(log.append(name, 0, [{ key: null, value: null }]), { code: 'TOPIC_UNKNOWN' })
      }
    },
  },
  {
    name: 'topics made one after the other have incarnations of their own',
    async run(t, harness) {
      const log = await harness.open(t)
      const [a, b] = [await log.topic(await createTopic(log)), await log.topic(await createTopic(log))]
      t.not(a?.incarnation, b?.incarnation)
    },
  },
  {
    name: 'creating a topic again changes nothing',
    async run(t, harness) {
      const log = await harness.open(t)
      const name = await createTopic(log, { partitions: 2 })
      const before = await log.topic(name)
      const { baseOffset } = await log.append(name, 1, [{ key: null, value: Buffer.from('kept') }])
      await createTopic(log, { name, partitions: 2 })
      t.same(await log.topic(name), before)
      const { records } = await log.read({ topic: name, partition: 1 }, baseOffset)
      t.equal(records[0]?.value?.toString(), 'kept')
    },
  },
  {
    name: 'an existing topic with other partitions or clean-up is refused',
    async run(t, harness) {
      const log = await harness.open(t)
      const name = await createTopic(log, { partitions: 2 })
      await t.rejects(createTopic(log, { name, partitions: 3 }), { code: 'TOPIC_MISMATCH' })
      await t.rejects(createTopic(log, { name, partitions: 2, cleanup: 'compact' }), { code: 'TOPIC_MISMATCH' })
      t.match(await log.topic(name), { partitions: 2 })
    },
  },
]
