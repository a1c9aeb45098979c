import type { ContractCase } from './harness.js'
import { createTopic, gate, join, newName, numbered, readAll, record, RecordingListener } from './harness.js'

export const lifetimeCases: readonly ContractCase[] = [
  {
    name: 'topics, records, positions and stamps are there after the log was opened anew',
    needs: ['reopen'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      const described = await log.topic(topic)
      const partition = { topic, partition: 1 }
      const group = newName()
      for (let i = 0; i < 3; i++) await log.append(topic, 1, numbered(3, `${i}-`))
      const before = await readAll(log, partition)
      const offsets = await log.offsets(partition)
      const listener = new RecordingListener()
      const member = await join(t, log, listener, { topics: [topic], group })
      await listener.until((seen) => seen.records().length === 9)
      await member.commit(partition, { offset: 7, metadata: 'note' })
      await member.leave()
      harness.stepWallClock(-24 * 3_600_000)
      const reopened = await harness.reopen(t, log)
      t.same(await reopened.topic(topic), described)
      t.same(await readAll(reopened, partition), before)
      t.same(await reopened.offsets(partition), offsets)
      const { baseOffset, timestamp } = await reopened.append(topic, 1, [record(null, 'new')])
      t.ok(baseOffset >= offsets.end)
      t.ok(timestamp >= (before.at(-1)?.timestamp ?? Infinity), 'the stamp does not go back with the wall clock')
      const second = new RecordingListener()
      const next = await join(t, reopened, second, { topics: [topic], group })
      await second.until((seen) => seen.records().length === 3)
      t.same(second.values(), ['2-1', '2-2', 'new'])
      t.same(await next.committed(partition), { offset: 7, metadata: 'note' })
    },
  },
  {
    name: 'a moved log start is there after the log was opened anew',
    needs: ['reopen', 'deleteBefore'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      for (const partition of [0, 1]) await log.append(topic, partition, numbered(6))
      await harness.deleteBefore(log, { topic, partition: 0 }, 2)
      await harness.deleteBefore(log, { topic, partition: 1 }, 6)
      const stamp = (await readAll(log, { topic, partition: 0 }))[0]?.timestamp ?? Infinity
      harness.stepWallClock(-24 * 3_600_000)
      const reopened = await harness.reopen(t, log)
      t.same(await reopened.offsets({ topic, partition: 0 }), { start: 2, end: 6 })
      t.same(await reopened.offsets({ topic, partition: 1 }), { start: 6, end: 6 })
      const appended = await reopened.append(topic, 1, numbered(1))
      t.equal(appended.baseOffset, 6)
      t.ok(appended.timestamp >= stamp)
    },
  },
  {
    name: 'a closed log refuses everything, and its members are at rest',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const partition = { topic, partition: 0 }
      const opened = gate()
      const [busy, waiting] = [new RecordingListener({ onBatch: () => opened.opened }), new RecordingListener()]
      const member = await join(t, log, waiting, { topics: [topic] })
      await waiting.until((seen) => seen.partitions('assigned').length === 1)
      await join(t, log, busy, { topics: [topic] })
      const writer = await log.writer(newName())
      await log.append(topic, 0, numbered(1))
      await busy.until((seen) => seen.batches().length === 1)
      await waiting.until((seen) => seen.records().length === 1)
      let closed = false
      const closing = log.close().then(() => (closed = true))
      await t.rejects(log.append(topic, 0, numbered(1)), { code: 'LOG_CLOSED' }, 'refused while closing')
      t.notOk(closed, 'a batch is under way')
      opened.open()
      await closing
      const { length } = waiting.seen
      t.ok(busy.seen.some(({ call }) => call === 'batch-done'))
      const calls: readonly (() => Promise<unknown>)[] = [
        () => log.createTopics([]),
        () => log.topic(topic),
        () => log.topics(),
        () => log.append(topic, 0, numbered(1)),
        () => log.offsets(partition),
        () => log.offsetForTime(partition, 0),
        () => log.read(partition, 0),
        () => log.join({ group: newName(), topics: [topic], listener: new RecordingListener() }),
        () => log.committed(newName(), partition),
        () => log.writer(newName()),
        () => writer.append([{ ...partition, records: numbered(1) }]),
        () => member.commit(partition, { offset: 0, metadata: '' }),
        () => member.committed(partition),
      ]
      for (const call of calls) {
        await t.rejects(call(), { code: 'LOG_CLOSED' }, String(call))
      }
      await log.close()
      t.equal(waiting.seen.length, length, 'nothing is called any more')
    },
  },
]
