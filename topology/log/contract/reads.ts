import type { ContractCase } from './harness.js'
import { createTopic, newName, numbered, readAll, record, valuesOf } from './harness.js'

export const readCases: readonly ContractCase[] = [
  {
    name: 'an empty partition starts where it ends, and a read there is empty',
    async run(t, harness) {
      const log = await harness.open(t)
      const partition = { topic: await createTopic(log), partition: 0 }
      t.same(await log.offsets(partition), { start: 0, end: 0 })
      t.same(await log.read(partition, 0), { ...partition, records: [], next: 0, end: 0 })
    },
  },
  {
    name: 'a read begins at the offset asked for, and one at the end is empty',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const partition = { topic, partition: 0 }
      for (let i = 0; i < 3; i++) await log.append(topic, 0, numbered(4, `${i}-`))
      const all = await readAll(log, partition)
      t.equal(all.length, 12)
      const { end } = await log.offsets(partition)
      for (const [i, { offset }] of all.entries()) {
        const batch = await log.read(partition, offset)
        t.same(batch.records[0], all[i])
        t.match(batch, { ...partition, end })
        t.ok(batch.next > (batch.records.at(-1)?.offset ?? end) && batch.next <= end)
      }
      t.same(await log.read(partition, end), { ...partition, records: [], next: end, end })
    },
  },
  {
    name: 'maxRecords and maxBytes bound a read; one record comes whatever its size',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const partition = { topic, partition: 0 }
      await log.append(
        topic,
        0,
        Array.from({ length: 10 }, (_, i) => record(`${i}`, 'x'.repeat(10_000))),
      )
      t.equal((await log.read(partition, 0, { maxRecords: 3 })).records.length, 3)
      t.equal((await log.read(partition, 0, { maxRecords: 1 })).records.length, 1)
      t.equal((await log.read(partition, 0, { maxBytes: 1 })).records.length, 1)
      const some = (await log.read(partition, 0, { maxBytes: 35_000 })).records.length
      t.ok(some >= 1 && some <= 3, `35,000 bytes hold ${some} records`)
    },
  },
  {
    name: 'reading on from `next` gives each record once, whatever the bounds',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const partition = { topic, partition: 0 }
      for (let i = 1; i <= 20; i++) await log.append(topic, 0, numbered(i, `${i}-`))
      const { end } = await log.offsets(partition)
      const all = valuesOf(await readAll(log, partition))
      for (const bounds of [
        { maxRecords: 1 },
        { maxRecords: 7 },
        { maxRecords: 1_000 },
        { maxBytes: 50 },
        { maxBytes: 400 },
      ]) {
        const values: (string | null)[] = []
        for (let next = 0; next < end;) {
          const batch = await log.read(partition, next, bounds)
          values.push(...valuesOf(batch.records))
          next = batch.next
        }
        t.same(values, all, JSON.stringify(bounds))
      }
    },
  },
  {
    name: 'a read outside of the log is refused',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const partition = { topic, partition: 0 }
      await log.append(topic, 0, numbered(3))
      const { end } = await log.offsets(partition)
      await t.rejects(log.read(partition, end + 1), { code: 'OFFSET_OUT_OF_RANGE' })
      await t.rejects(log.read(partition, -1), { code: 'OFFSET_OUT_OF_RANGE' })
    },
  },
  {
    name: 'questions about no topic or no partition are refused',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      for (const [partition, code] of [
        [{ topic: newName(), partition: 0 }, 'TOPIC_UNKNOWN'],
        [{ topic, partition: 1 }, 'PARTITION_UNKNOWN'],
      ] as const) {
        await t.rejects(log.offsets(partition), { code })
        await t.rejects(log.offsetForTime(partition, 0), { code })
        await t.rejects(log.read(partition, 0), { code })
      }
    },
  },
  {
    name: 'the offset for a time is the first whose timestamp is at or after it, the end when there is none',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { timestampType: 'CreateTime' })
      const partition = { topic, partition: 0 }
      const at = 1_700_000_000_000
      const stamps = [
        [10, 5],
        [30, 20],
        [15, 40],
      ]
      for (const batch of stamps) {
        await log.append(
          topic,
          0,
          batch.map((ms) => record(null, `${ms}`, at + ms)),
        )
      }
      const records = await readAll(log, partition)
      const { end } = await log.offsets(partition)
      for (const [ms, expected] of [
        [0, '10'],
        [10, '10'],
        [11, '30'],
        [30, '30'],
        [31, '40'],
        [40, '40'],
      ] as const) {
        const offset = await log.offsetForTime(partition, at + ms)
        t.equal(records.find((read) => read.offset === offset)?.value?.toString(), expected, `${ms} ms`)
      }
      t.equal(await log.offsetForTime(partition, at + 41), end)
    },
  },
  {
    name: 'below a moved log start nothing is read',
    needs: ['deleteBefore'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const partition = { topic, partition: 0 }
      for (let i = 0; i < 5; i++) await log.append(topic, 0, numbered(4, `${i}-`))
      const all = await readAll(log, partition)
      const { end } = await log.offsets(partition)
      // In the middle of an append.
      const start = all[10]?.offset ?? 0
      await harness.deleteBefore(log, partition, start)
      t.same(await log.offsets(partition), { start, end })
      await t.rejects(log.read(partition, start - 1), { code: 'OFFSET_OUT_OF_RANGE' })
      t.same(await readAll(log, partition), all.slice(10))
      t.equal(await log.offsetForTime(partition, 0), start)
      await harness.deleteBefore(log, partition, end)
      t.same(await log.offsets(partition), { start: end, end }, 'all deleted: the end stays')
      const { baseOffset } = await log.append(topic, 0, numbered(1))
      t.ok(baseOffset >= end)
    },
  },
]
