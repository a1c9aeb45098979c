import type { Headers } from '../log.js'
import type { ContractCase } from './harness.js'
import { createTopic, newName, numbered, readAll, record, valuesOf } from './harness.js'

const tooLarge = record('big', 'x'.repeat(3 * 1024 * 1024))

export const appendCases: readonly ContractCase[] = [
  {
    name: 'records are read back as they were appended, at growing offsets',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      const first = await log.append(topic, 1, [record('k1', 'a'), record('k2', 'b')])
      const second = await log.append(topic, 1, [record('k1', 'c')])
      t.ok(second.baseOffset >= first.baseOffset + 2)
      const records = await readAll(log, { topic, partition: 1 })
      t.match(records, [
        { offset: first.baseOffset, key: Buffer.from('k1'), value: Buffer.from('a'), headers: [] },
        { offset: first.baseOffset + 1, key: Buffer.from('k2'), value: Buffer.from('b') },
        { offset: second.baseOffset, key: Buffer.from('k1'), value: Buffer.from('c') },
      ])
      t.equal(records.length, 3)
      t.same(await readAll(log, { topic, partition: 0 }), [], 'the other partition is untouched')
    },
  },
  {
    name: 'appends to one partition stand in the order of the calls, awaited or not',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const appended = await Promise.all(
        Array.from({ length: 60 }, (_, i) => log.append(topic, 0, numbered(1 + (i % 4), `${i}-`))),
      )
      const expected = Array.from({ length: 60 }, (_, i) => numbered(1 + (i % 4), `${i}-`)).flat()
      const records = await readAll(log, { topic, partition: 0 })
      t.same(
        records.map(({ value }) => value),
        expected.map(({ value }) => value),
      )
      for (const [i, { baseOffset }] of appended.entries()) {
        t.equal(records.find(({ offset }) => offset === baseOffset)?.value?.toString(), `${i}-0`)
      }
    },
  },
  {
    name: 'a long append is kept whole and in order',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      await log.append(topic, 0, numbered(5_000))
      t.same(
        valuesOf(await readAll(log, { topic, partition: 0 })),
        numbered(5_000).map(({ value }) => value?.toString()),
      )
    },
  },
  {
    name: 'null and empty keys and values stay apart',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      await log.append(topic, 0, [record(null, ''), record('', null), record('', ''), record(null, null)])
      const records = await readAll(log, { topic, partition: 0 })
      t.same(
        records.map(({ key, value }) => [key?.length ?? null, value?.length ?? null]),
        [
          [null, 0],
          [0, null],
          [0, 0],
          [null, null],
        ],
      )
    },
  },
  {
    name: 'all byte values come back, and buffers may be used again once the append is acknowledged',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
      const used = {
        key: Buffer.from(bytes),
        value: Buffer.from(bytes),
        headers: [['h', Buffer.from(bytes)]] as Headers,
      }
      await log.append(topic, 0, [used])
      used.key.fill(0)
      used.value.fill(0)
      used.headers[0]?.[1].fill(0)
      const [read] = await readAll(log, { topic, partition: 0 })
      t.same(read?.key, bytes)
      t.same(read?.value, bytes)
      t.same(read?.headers, [['h', bytes]])
    },
  },
  {
    name: 'headers keep repeated and odd names',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const names = ['a', 'a', '__proto__', 'constructor', 'toString', '7', 'ce_id', 'größe-✓', '__proto__', 'empty']
      const headers = names.map((name, i) => [name, Buffer.from(name === 'empty' ? '' : `${i}`)] as const)
      await log.append(topic, 0, [{ key: null, value: null, headers }])
      const [read] = await readAll(log, { topic, partition: 0 })
      const byName = (of: Headers = []): string[] => of.map(([name, value]) => `${name}=${value.toString()}`).sort()
      t.same(byName(read?.headers), byName(headers))
      const named = (of: Headers = []): string[] =>
        of.flatMap(([name, value]) => (name === 'a' ? [value.toString()] : []))
      t.same(named(read?.headers), ['0', '1'], 'the order within a name')
    },
  },
  {
    name: 'headers keep their order when names take turns',
    needs: ['keepsHeaderOrder'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const headers = ['b', 'a', 'b', '2', '1'].map((name, i) => [name, Buffer.of(i)] as const)
      await log.append(topic, 0, [{ key: null, value: null, headers }])
      t.same((await readAll(log, { topic, partition: 0 }))[0]?.headers, headers)
    },
  },
  {
    name: 'CreateTime keeps the stamps that producers send, also -1, and answers the highest',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { timestampType: 'CreateTime' })
      const stamps = [1_700_000_000_500, 1_700_000_000_000, -1, 1]
      const appended = await log.append(
        topic,
        0,
        stamps.map((stamp) => record(null, 'x', stamp)),
      )
      t.equal(appended.timestamp, 1_700_000_000_500)
      await log.append(topic, 0, [record(null, 'x', -1)])
      t.same(
        (await readAll(log, { topic, partition: 0 })).map(({ timestamp }) => timestamp),
        [...stamps, -1],
      )
    },
  },
  {
    name: 'CreateTime without a stamp takes the clock',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { timestampType: 'CreateTime' })
      await log.append(topic, 0, [record(null, 'x'), record(null, 'y', 5)])
      const [unstamped, stamped] = await readAll(log, { topic, partition: 0 })
      t.ok((unstamped?.timestamp ?? 0) > 1_600_000_000_000)
      t.equal(stamped?.timestamp, 5)
    },
  },
  {
    name: 'LogAppendTime stamps all records of an append, whatever the producer sent, and never goes back',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      let last = 0
      for (const sent of [9_999_999_999_999, 1, undefined]) {
        const { baseOffset, timestamp } = await log.append(topic, 0, [record(null, 'x', sent), record(null, 'y', sent)])
        t.ok(timestamp >= last && timestamp > 1_600_000_000_000 && timestamp !== sent)
        last = timestamp
        const { records } = await log.read({ topic, partition: 0 }, baseOffset)
        t.same(
          records.map((read) => read.timestamp),
          [timestamp, timestamp],
        )
      }
    },
  },
  {
    name: 'LogAppendTime goes on with passing time and not with steps of the wall clock',
    needs: ['passTime', 'stepWallClock'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const stamp = async (): Promise<number> => (await log.append(topic, 0, [record(null, 'x')])).timestamp
      const first = await stamp()
      await harness.passTime(1_000)
      t.equal(await stamp(), first + 1_000)
      harness.stepWallClock(-3_600_000)
      t.equal(await stamp(), first + 1_000)
      harness.stepWallClock(7_200_000)
      await harness.passTime(1)
      t.equal(await stamp(), first + 1_001)
    },
  },
  {
    name: 'an append to no topic, to no partition or with a record too large is refused and leaves nothing',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      const before = await log.offsets({ topic, partition: 0 })
      await t.rejects(log.append(newName(), 0, numbered(1)), { code: 'TOPIC_UNKNOWN' })
      for (const partition of [2, -1, 0.5]) {
        await t.rejects(log.append(topic, partition, numbered(1)), { code: 'PARTITION_UNKNOWN' })
      }
      await t.rejects(log.append(topic, 0, [...numbered(2), tooLarge]), { code: 'RECORD_TOO_LARGE' })
      t.same(await log.offsets({ topic, partition: 0 }), before)
      await log.append(topic, 0, numbered(1))
      t.same(valuesOf(await readAll(log, { topic, partition: 0 })), ['v0'])
    },
  },
]
