import type { ContractCase } from './harness.js'
import { createTopic, newName, numbered, readBehind, record, valuesOf } from './harness.js'

export const writerCases: readonly ContractCase[] = [
  {
    name: 'a writer appends to several partitions and answers where',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      const other = await createTopic(log)
      await log.append(topic, 1, numbered(2, 'before'))
      const writer = await log.writer(newName())
      const appended = await writer.append([
        { topic, partition: 1, records: numbered(2, 'a') },
        { topic: other, partition: 0, records: numbered(1, 'b') },
      ])
      const [first, second] = appended
      t.equal(appended.length, 2)
      await readBehind(log, { topic, partition: 1 }, first, 2)
      const read = await log.read({ topic, partition: 1 }, first?.baseOffset ?? -1)
      t.same(valuesOf(read.records), ['a0', 'a1'])
      t.equal(read.records[0]?.timestamp, first?.timestamp)
      t.same(valuesOf(await readBehind(log, { topic: other, partition: 0 }, second, 1)), ['b0'])
      t.equal(second?.baseOffset, 0)
      await writer.close()
    },
  },
  {
    name: 'appends of one writer stand in the order of the calls',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const writer = await log.writer(newName())
      const appended = await Promise.all(
        Array.from({ length: 20 }, (_, i) => writer.append([{ topic, partition: 0, records: [record(null, `${i}`)] }])),
      )
      t.same(
        valuesOf(await readBehind(log, { topic, partition: 0 }, appended.at(-1)?.[0], 1)),
        Array.from({ length: 20 }, (_, i) => `${i}`),
      )
      await writer.close()
    },
  },
  {
    name: 'a later writer of the same id fences the former, whose appends write nothing',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      const id = newName()
      const former = await log.writer(id)
      const stranger = await log.writer(newName())
      await former.append([{ topic, partition: 0, records: numbered(1, 'former') }])
      const later = await log.writer(id)
      const parts = [0, 1].map((partition) => ({ topic, partition, records: numbered(1, 'fenced') }))
      await t.rejects(former.append(parts), { code: 'WRITER_FENCED' })
      const [ofLater] = await later.append([{ topic, partition: 0, records: numbered(1, 'later') }])
      const [ofStranger] = await stranger.append([{ topic, partition: 1, records: numbered(1, 'stranger') }])
      await t.rejects(former.append(parts), { code: 'WRITER_FENCED' }, 'and stays fenced')
      t.same(valuesOf(await readBehind(log, { topic, partition: 0 }, ofLater, 1)), ['former0', 'later0'])
      t.same(valuesOf(await readBehind(log, { topic, partition: 1 }, ofStranger, 1)), ['stranger0'])
      for (const writer of [former, later, stranger]) await writer.close()
    },
  },
  {
    name: 'when one part is refused, none is written',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const writer = await log.writer(newName())
      const good = { topic, partition: 0, records: numbered(1, 'refused') }
      for (const [bad, code] of [
        [{ topic: newName(), partition: 0, records: numbered(1) }, 'TOPIC_UNKNOWN'],
        [{ topic, partition: 7, records: numbered(1) }, 'PARTITION_UNKNOWN'],
        [{ topic, partition: 0, records: [record('big', 'x'.repeat(3 * 1024 * 1024))] }, 'RECORD_TOO_LARGE'],
      ] as const) {
        await t.rejects(writer.append([good, bad]), { code })
      }
      const [good0] = await writer.append([{ topic, partition: 0, records: numbered(1, 'good') }])
      t.same(valuesOf(await readBehind(log, { topic, partition: 0 }, good0, 1)), ['good0'])
      await writer.close()
    },
  },
]
