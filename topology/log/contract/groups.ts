import type { DeliveredBatch } from '../log.js'
import type { ContractCase } from './harness.js'
import { createTopic, gate, join, newName, numbered, record, RecordingListener, valuesOf } from './harness.js'

export const groupCases: readonly ContractCase[] = [
  {
    name: 'a lone member gets all partitions of its topics from the log start, and what is appended later',
    async run(t, harness) {
      const log = await harness.open(t)
      const topics = [await createTopic(log, { partitions: 3 }), await createTopic(log)]
      const [first = '', second = ''] = topics
      await log.append(first, 0, numbered(2, 'a'))
      await log.append(first, 2, numbered(1, 'b'))
      await log.append(second, 0, numbered(1, 'c'))
      const listener = new RecordingListener()
      const member = await join(t, log, listener, { topics })
      await listener.until((seen) => seen.records().length === 4)
      t.same([...listener.values()].sort(), ['a0', 'a1', 'b0', 'c0'])
      t.same(listener.partitions('assigned'), [0, 0, 1, 2])
      t.equal(member.assignment.length, 4)
      await log.append(first, 1, numbered(3, 'd'))
      await listener.until((seen) => seen.records().length === 7)
      const batch = listener.batches().at(-1)
      t.match(batch, { topic: first, partition: 1 })
      t.ok((batch?.next ?? 0) > (batch?.records.at(-1)?.offset ?? 0))
      t.same(listener.errors(), [])
    },
  },
  {
    name: 'the first batch of a partition comes after onAssigned has resolved',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      for (const partition of [0, 1]) await log.append(topic, partition, numbered(1))
      const opened = gate()
      let answered = false
      const listener = new RecordingListener({
        async onAssigned() {
          await opened.opened
          answered = true
          return []
        },
        async onBatch() {
          t.ok(answered, 'the batch came later')
          return Promise.resolve()
        },
      })
      await join(t, log, listener, { topics: [topic] })
      await listener.until((seen) => seen.partitions('assigned').length === 2)
      opened.open()
      await listener.until((seen) => seen.records().length === 2)
    },
  },
  {
    name: 'onAssigned answers where to start; absent, it is the committed position',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 3 })
      const group = newName()
      for (const partition of [0, 1, 2]) await log.append(topic, partition, numbered(4, `${partition}-`))
      const first = new RecordingListener()
      const member = await join(t, log, first, { topics: [topic], group })
      await first.until((seen) => seen.records().length === 12)
      await member.commit({ topic, partition: 1 }, { offset: 2, metadata: 'half' })
      await member.commit({ topic, partition: 2 }, { offset: 4, metadata: '' })
      await member.leave()
      t.same(await log.committed(group, { topic, partition: 1 }), { offset: 2, metadata: 'half' }, 'for anybody')
      t.equal(await log.committed(newName(), { topic, partition: 1 }), undefined)
      const second = new RecordingListener({
        onAssigned: () => Promise.resolve([{ topic, partition: 2, offset: 3 }]),
      })
      await join(t, log, second, { topics: [topic], group })
      await second.until((seen) => seen.records().length === 7)
      t.same([...second.values()].sort(), ['0-0', '0-1', '0-2', '0-3', '1-2', '1-3', '2-3'])
    },
  },
  {
    name: 'positions are kept by group and partition, may go back, and are absent before the first commit',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      await log.append(topic, 0, numbered(5))
      const partition = { topic, partition: 0 }
      const [listener, other] = [new RecordingListener(), new RecordingListener()]
      const member = await join(t, log, listener, { topics: [topic] })
      const stranger = await join(t, log, other, { topics: [topic] })
      await listener.until((seen) => seen.partitions('assigned').length === 2)
      await other.until((seen) => seen.partitions('assigned').length === 2)
      t.equal(await member.committed(partition), undefined)
      for (const position of [
        { offset: 4, metadata: '{"größe":✓}' },
        { offset: 1, metadata: '' },
      ]) {
        await member.commit(partition, position)
        t.same(await member.committed(partition), position)
      }
      t.equal(await member.committed({ topic, partition: 1 }), undefined)
      t.equal(await stranger.committed(partition), undefined)
    },
  },
  {
    name: 'batches of a partition never overlap, and come in order and bounded',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      await Promise.all([0, 1].map((partition) => log.append(topic, partition, numbered(100))))
      const running = new Set<number>()
      const next = new Map([
        [0, 0],
        [1, 0],
      ])
      const listener = new RecordingListener({
        async onBatch(batch: DeliveredBatch) {
          t.notOk(running.has(batch.partition), 'the former batch is done')
          running.add(batch.partition)
          t.ok((batch.records.at(0)?.offset ?? 0) >= (next.get(batch.partition) ?? 0), 'it goes on where that ended')
          next.set(batch.partition, batch.next)
          await new Promise((resolve) => setImmediate(resolve))
          running.delete(batch.partition)
        },
      })
      await join(t, log, listener, { topics: [topic], maxRecords: 7 })
      await listener.until((seen) => seen.records().length === 200)
      t.ok(listener.batches().every(({ records }) => records.length <= 7))
      for (const partition of [0, 1]) {
        const records = listener.batches().flatMap((batch) => (batch.partition === partition ? batch.records : []))
        t.same(
          valuesOf(records),
          numbered(100).map(({ value }) => value?.toString()),
        )
      }
    },
  },
  {
    name: 'a rejected batch is told and comes again the same, then the position moves',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      await log.append(topic, 0, numbered(3))
      let failures = 2
      const listener = new RecordingListener({
        onBatch: () => (failures-- > 0 ? Promise.reject(new Error(`no ${failures}`)) : Promise.resolve()),
      })
      await join(t, log, listener, { topics: [topic] })
      await listener.until((seen) => seen.errors().length === 1)
      await log.append(topic, 0, [record(null, 'later')])
      await harness.passTime(60_000)
      await listener.until((seen) => seen.errors().length === 2)
      await harness.passTime(60_000)
      await listener.until((seen) => seen.records().length === 4)
      t.same(
        listener.errors().map(({ message }) => message),
        ['no 1', 'no 0'],
      )
      const batches = listener.batches().map(({ records }) => valuesOf(records))
      t.same(batches.slice(0, 3), [
        ['v0', 'v1', 'v2'],
        ['v0', 'v1', 'v2'],
        ['v0', 'v1', 'v2'],
      ])
      t.same(listener.values(), ['v0', 'v1', 'v2', 'later'])
    },
  },
  {
    name: 'a paused partition rests until it is resumed, the others go on',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      const listener = new RecordingListener()
      const member = await join(t, log, listener, { topics: [topic] })
      await listener.until((seen) => seen.partitions('assigned').length === 2)
      await log.append(topic, 0, numbered(1, 'before'))
      await listener.until((seen) => seen.records().length === 1)
      member.pause({ topic, partition: 0 })
      await log.append(topic, 0, numbered(1, 'paused'))
      for (let i = 0; i < 5; i++) {
        await log.append(topic, 1, numbered(1, `other${i}-`))
        await listener.until((seen) => seen.records().length === 2 + i)
      }
      t.notOk(listener.values().includes('paused0'))
      member.resume({ topic, partition: 0 })
      await listener.until((seen) => seen.values().includes('paused0'))
    },
  },
  {
    name: 'leave waits for the batch under way, then revokes; nothing is called afterwards',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      await log.append(topic, 0, numbered(1))
      const opened = gate()
      const listener = new RecordingListener({ onBatch: () => opened.opened })
      const member = await join(t, log, listener, { topics: [topic] })
      await listener.until((seen) => seen.batches().length === 1)
      let left = false
      const leaving = member.leave().then(() => (left = true))
      await log.append(topic, 1, numbered(1))
      t.notOk(left, 'the batch holds it')
      t.same(listener.partitions('revoked'), [])
      opened.open()
      await leaving
      const calls = listener.seen.map(({ call }) => call)
      t.ok(calls.indexOf('revoked') > calls.indexOf('batch-done'))
      t.same(listener.partitions('revoked'), [0, 1])
      t.same(member.assignment, [])
      const { length } = listener.seen
      await log.append(topic, 0, numbered(1))
      await harness.passTime(60_000)
      t.equal(listener.seen.length, length)
    },
  },
  {
    name: 'one that leaves does not wait for what another one still holds',
    async run(t, harness) {
      const log = await harness.open(t)
      const options = { topics: [await createTopic(log, { partitions: 4 })], group: newName() }
      const opened = gate()
      t.teardown(() => opened.open())
      const slow = new RecordingListener({ onRevoked: () => opened.opened })
      const memberA = await join(t, log, slow, options)
      await slow.until(() => memberA.assignment.length === 4)
      const [b, c] = [new RecordingListener(), new RecordingListener()]
      const memberB = await join(t, log, b, options)
      await slow.until((seen) => seen.partitions('revoked').length === 2)
      await memberB.leave()
      t.equal(memberA.assignment.length, 4, 'it has let go of nothing yet')
      opened.open()
      const memberC = await join(t, log, c, options)
      await c.until(() => memberA.assignment.length === 2 && memberC.assignment.length === 2)
      t.same(b.partitions('assigned'), [])
    },
  },
  {
    name: 'members of one group share the partitions, and one that leaves gives its own back',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 4 })
      const group = newName()
      const handled: (string | null)[] = []
      const owners = new Map<number, RecordingListener>()
      const newListener = (): RecordingListener => {
        const listener: RecordingListener = new RecordingListener({
          onAssigned(partitions) {
            for (const { partition } of partitions) {
              t.notOk(owners.has(partition), `partition ${partition} is free`)
              owners.set(partition, listener)
            }
            return Promise.resolve([])
          },
          async onRevoked(partitions) {
            await Promise.resolve()
            for (const { partition } of partitions) owners.delete(partition)
          },
          async onBatch(batch) {
            t.equal(owners.get(batch.partition), listener)
            handled.push(...valuesOf([...batch.records]))
            const current = listener === a ? memberA : memberB
            await current.commit(batch, { offset: batch.next, metadata: '' })
          },
        })
        return listener
      }
      const a = newListener()
      const memberA = await join(t, log, a, { topics: [topic], group })
      await a.until((seen) => seen.partitions('assigned').length === 4)
      const b = newListener()
      const memberB = await join(t, log, b, { topics: [topic], group })
      await b.until(() => memberA.assignment.length === 2 && memberB.assignment.length === 2 && owners.size === 4)
      const values: string[] = []
      for (let i = 0; i < 20; i++) {
        values.push(`r${i}`)
        await log.append(topic, i % 4, [record(null, `r${i}`)])
      }
      await Promise.all([
        a.until((seen) => seen.records().length === 10),
        b.until((seen) => seen.records().length === 10),
      ])
      await memberB.leave()
      await a.until(() => memberA.assignment.length === 4 && owners.size === 4)
      for (let i = 20; i < 24; i++) {
        values.push(`r${i}`)
        await log.append(topic, i % 4, [record(null, `r${i}`)])
      }
      await a.until((seen) => seen.records().length === 14)
      t.same(handled.sort(), values.sort(), 'each record once')
      t.same([...a.errors(), ...b.errors()], [])
    },
  },
  {
    name: 'a position below the log start is a gap: it is told, and reading goes on at the start',
    needs: ['deleteBefore'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { partitions: 2 })
      const group = newName()
      const first = new RecordingListener()
      const member = await join(t, log, first, { topics: [topic], group })
      await first.until((seen) => seen.partitions('assigned').length === 2)
      await member.commit({ topic, partition: 0 }, { offset: 1, metadata: '' })
      await member.leave()
      for (const partition of [0, 1]) {
        await log.append(topic, partition, numbered(6, `${partition}-`))
        await harness.deleteBefore(log, { topic, partition }, 4)
      }
      const second = new RecordingListener()
      await join(t, log, second, { topics: [topic], group })
      await second.until((seen) => seen.records().length === 4)
      t.same([...second.values()].sort(), ['0-4', '0-5', '1-4', '1-5'])
      const gaps = second.seen.flatMap((seen) => (seen.call === 'gap' ? [seen.gap] : []))
      t.same(gaps, [{ topic, partition: 0, from: 1, to: 4 }], 'a start without position is no gap')
    },
  },
  {
    name: 'a topic that is missing is delivered from its start once it is made, and does not hold back others',
    async run(t, harness) {
      const log = await harness.open(t)
      const [topic, later] = [await createTopic(log), newName()]
      await log.append(topic, 0, numbered(1, 'a'))
      const listener = new RecordingListener()
      const member = await join(t, log, listener, { topics: [topic, later] })
      await listener.until((seen) => seen.values().join() === 'a0')
      await createTopic(log, { name: later, partitions: 2 })
      await log.append(later, 1, numbered(2, 'b'))
      member.rejoin()
      await listener.until((seen) => seen.records().length === 3)
      t.same(listener.values(), ['a0', 'b0', 'b1'])
      t.equal(member.assignment.length, 3)
      t.same(listener.errors(), [])
    },
  },
  {
    name: 'a paused partition is read on from where it is sent, whatever was read ahead',
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      const at = { topic, partition: 0 }
      await log.append(topic, 0, numbered(6))
      const opened = gate()
      const listener = new RecordingListener({ onBatch: () => opened.opened })
      const member = await join(t, log, listener, { topics: [topic], maxRecords: 2 })
      await listener.until((seen) => seen.batches().length === 1)
      member.pause(at)
      opened.open()
      await listener.until((seen) => seen.records().length === 2)
      member.seek({ ...at, offset: 4 })
      member.resume(at)
      await listener.until((seen) => seen.records().length === 4)
      member.pause(at)
      member.seek({ ...at, offset: 1 })
      member.resume(at)
      await listener.until((seen) => seen.records().length === 9)
      t.same(listener.values(), ['v0', 'v1', 'v4', 'v5', 'v1', 'v2', 'v3', 'v4', 'v5'])
    },
  },
]
