import t from 'tap'
import type { Test } from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import type { ManualClock } from '../../../common/manual-clock.js'
import { memoryProvider } from '../../../state-stores/memory/provider.js'
import { createTopic, gate, numbered, RecordingListener, valuesOf } from '../contract/harness.js'
import type { GroupMember } from '../log.js'
import { openEmbeddedLogAt } from './embedded-log.js'
import type { EmbeddedLog } from './embedded-log.js'

async function openLog(t: Test): Promise<{ readonly log: EmbeddedLog; readonly clock: ManualClock }> {
  const clock = manualClock()
  let topics = 0
  const log = await openEmbeddedLogAt(memoryProvider(), 'log', {
    clock,
    newIncarnation: () => `${++topics}`,
    onCleanError: (error) => t.fail(error.message),
  })
  t.teardown(() => log.close())
  return { log, clock }
}

const aTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('a partition whose batch takes long does not hold up the others', async (t) => {
  const { log } = await openLog(t)
  const topic = await createTopic(log, { partitions: 2 })
  const opened = gate()
  t.teardown(() => opened.open())
  const listener = new RecordingListener({
    onBatch: ({ partition }) => (partition === 0 ? opened.opened : Promise.resolve()),
  })
  await log.join({ group: 'g', topics: [topic], listener })
  await log.append(topic, 0, numbered(1, 'slow'))
  for (let i = 1; i <= 3; i++) {
    await log.append(topic, 1, numbered(1, `${i}-`))
    await listener.until((seen) => seen.records().length === i)
  }
  t.same(listener.values(), ['1-0', '2-0', '3-0'])
})

t.test('partitions with much to read take turns, and leave room for others', async (t) => {
  const { log } = await openLog(t)
  const topic = await createTopic(log, { partitions: 2 })
  for (const partition of [0, 1]) await log.append(topic, partition, numbered(50))
  const listener = new RecordingListener()
  let turns = 0
  let running = true
  void (async () => {
    for (; running; turns++) await aTurn()
  })()
  await log.join({ group: 'g', topics: [topic], listener, maxRecords: 1 })
  await listener.until((seen) => seen.records().length === 100)
  running = false
  const order = listener.batches().map(({ partition }) => partition)
  t.same(
    order,
    order.map((_, i) => i % 2),
  )
  t.ok(turns >= 49, `the event loop turned ${turns} times`)
})

t.test('the listener can use the member from the first call on', async (t) => {
  const { log } = await openLog(t)
  const topic = await createTopic(log)
  const listener = new RecordingListener({
    async onAssigned(partitions) {
      t.same(member.assignment, partitions)
      await member.commit({ topic, partition: 0 }, { offset: 0, metadata: 'mine' })
      t.match(await member.committed({ topic, partition: 0 }), { metadata: 'mine' })
      return []
    },
  })
  const member: GroupMember = await log.join({ group: 'g', topics: [topic], listener })
  await log.append(topic, 0, numbered(1))
  await listener.until((seen) => seen.records().length === 1)
  t.same(listener.errors(), [])
})

t.test('a rejected batch comes again after 100 ms, 200 ms, 400 ms, up to 5 s', async (t) => {
  const { log, clock } = await openLog(t)
  const topic = await createTopic(log)
  await log.append(topic, 0, numbered(1))
  const at: number[] = []
  const listener = new RecordingListener({
    onBatch: () => {
      at.push(clock.monotonic())
      return Promise.reject(new Error('no'))
    },
  })
  const member = await log.join({ group: 'g', topics: [topic], listener })
  await listener.until((seen) => seen.errors().length === 1)
  for (let i = 2; i <= 9; i++) {
    await clock.advance(10_000)
    await listener.until((seen) => seen.errors().length >= i)
  }
  const pauses = at.slice(1).map((time, i) => time - (at[i] ?? 0))
  t.same(pauses.slice(0, 7), [100, 200, 400, 800, 1_600, 3_200, 5_000])
  await member.leave()
  t.same(listener.partitions('revoked'), [0], 'leaving does not wait for the pause to end')
})

t.test('a rejected onAssigned is told and comes again; leaving in between ends it', async (t) => {
  const { log, clock } = await openLog(t)
  const topic = await createTopic(log, { partitions: 2 })
  await log.append(topic, 0, numbered(1))
  let failures = 1
  const listener = new RecordingListener({
    onAssigned: () => (failures-- > 0 ? Promise.reject(new Error('not yet')) : Promise.resolve([])),
  })
  const member = await log.join({ group: 'g', topics: [topic], listener })
  await listener.until((seen) => seen.errors().length === 1)
  t.same(listener.batches(), [])
  await clock.advance(100)
  await listener.until((seen) => seen.records().length === 1)
  await member.leave()

  const never = new RecordingListener({ onAssigned: () => Promise.reject(new Error('never')) })
  const other = await log.join({ group: 'h', topics: [topic], listener: never })
  await never.until((seen) => seen.errors().length === 1)
  await other.leave()
  t.same(never.partitions('revoked'), [0, 1], 'what was announced is revoked')
})

t.test('a start beyond the end is told and nothing is delivered', async (t) => {
  const { log, clock } = await openLog(t)
  const topic = await createTopic(log)
  await log.append(topic, 0, numbered(3))
  const listener = new RecordingListener({
    onAssigned: () => Promise.resolve([{ topic, partition: 0, offset: 4 }]),
  })
  await log.join({ group: 'g', topics: [topic], listener })
  await listener.until((seen) => seen.errors().length === 1)
  await clock.advance(1_000)
  t.match(listener.errors().at(-1), { code: 'OFFSET_OUT_OF_RANGE' })
  t.same(listener.batches(), [])
})

t.test('after its partitions went to another member, a member cannot commit for them', async (t) => {
  const { log } = await openLog(t)
  const topic = await createTopic(log, { partitions: 2 })
  const lastCommits: Promise<unknown>[] = []
  const a = new RecordingListener({
    async onRevoked(partitions) {
      for (const partition of partitions) {
        const commit = memberA.commit(partition, { offset: 0, metadata: 'last' })
        lastCommits.push(commit)
        await commit
      }
    },
  })
  const memberA: GroupMember = await log.join({ group: 'g', topics: [topic], listener: a })
  await a.until((seen) => seen.partitions('assigned').length === 2)
  const b = new RecordingListener()
  const memberB = await log.join({ group: 'g', topics: [topic], listener: b })
  await b.until((seen) => seen.partitions('assigned').length === 1)
  t.equal(lastCommits.length, 1, 'one could still be committed while it was revoked')
  t.same(await memberB.committed({ topic, partition: 1 }), { offset: 0, metadata: 'last' })
  await t.rejects(memberA.commit({ topic, partition: 1 }, { offset: 9, metadata: '' }), { code: 'WRITER_FENCED' })
  await memberB.commit({ topic, partition: 1 }, { offset: 0, metadata: 'by b' })
})

t.test('equally numbered partitions of two topics go to one member', async (t) => {
  const { log } = await openLog(t)
  const topics = [await createTopic(log, { partitions: 6 }), await createTopic(log, { partitions: 6 })]
  const listeners = [new RecordingListener(), new RecordingListener(), new RecordingListener()]
  const members: GroupMember[] = []
  for (const listener of listeners) {
    members.push(await log.join({ group: 'g', topics, listener }))
    await listener.until((seen) => seen.partitions('assigned').length > 0)
  }
  await listeners[0]!.until(() => members.every(({ assignment }) => assignment.length === 4))
  for (const { assignment } of members) {
    const [first, second] = topics.map((topic) => assignment.filter((held) => held.topic === topic))
    t.same(
      first?.map(({ partition }) => partition),
      second?.map(({ partition }) => partition),
    )
  }
})

t.test('a batch may append to the partition it came from', async (t) => {
  const { log } = await openLog(t)
  const topic = await createTopic(log)
  const listener = new RecordingListener({
    async onBatch(batch) {
      if (batch.next < 10) await log.append(topic, 0, numbered(1, `after${batch.next}-`))
    },
  })
  await log.join({ group: 'g', topics: [topic], listener })
  await log.append(topic, 0, numbered(1))
  await listener.until((seen) => seen.records().length === 10)
  t.equal(valuesOf(listener.records()).at(-1), 'after9-0')
})

t.test('a paused member that the log start overtakes is told of the gap when it goes on', async (t) => {
  const { log } = await openLog(t)
  const topic = await createTopic(log)
  const listener = new RecordingListener()
  const member = await log.join({ group: 'g', topics: [topic], listener })
  await listener.until((seen) => seen.partitions('assigned').length === 1)
  await log.append(topic, 0, numbered(2, 'before'))
  await listener.until((seen) => seen.records().length === 2)
  member.pause({ topic, partition: 0 })
  for (let i = 0; i < 4; i++) await log.append(topic, 0, numbered(2, `${i}-`))
  await log.deleteBefore({ topic, partition: 0 }, 8)
  member.resume({ topic, partition: 0 })
  await listener.until((seen) => seen.records().length > 2)
  const gaps = listener.seen.flatMap((seen) => (seen.call === 'gap' ? [seen.gap] : []))
  // One batch may have been read before the pause.
  t.match(gaps, [{ topic, partition: 0, to: 8 }])
  t.equal(listener.values().at(-1), '3-1')
})
