import type { Log, LogRecord, TopicPartition } from '../log.js'
import type { ContractCase } from './harness.js'
import { createTopic, join, numbered, readAll, record, RecordingListener, valuesOf } from './harness.js'

const minuteMs = 60_000

/** Appends each `key=value` alone; no value is a tombstone. */
async function put(log: Log, topic: string, ...entries: string[]): Promise<void> {
  for (const entry of entries) {
    const [key = '', value] = entry.split('=')
    await log.append(topic, 0, [record(key, value ?? null)])
  }
}

function entriesOf(records: readonly LogRecord[]): string[] {
  return records.map(({ key, value }) => [key, value].flatMap((bytes) => bytes?.toString() ?? []).join('='))
}

export const cleaningCases: readonly ContractCase[] = [
  {
    name: 'retention by time deletes what is older and moves the log start',
    needs: ['clean', 'passTime'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { retentionMs: 10 * minuteMs })
      const partition = { topic, partition: 0 }
      for (let i = 0; i < 10; i++) {
        await log.append(topic, 0, numbered(2, `${i}-`))
        await harness.passTime(2 * minuteMs)
      }
      const { end } = await log.offsets(partition)
      // 20 minutes have passed since the first, 10 since the sixth.
      await harness.clean(log)
      t.equal(valuesOf(await readAll(log, partition))[0], '5-0')
      await harness.passTime(20 * minuteMs)
      await harness.clean(log)
      t.same(await log.offsets(partition), { start: end, end }, 'all gone, the end stays')
      t.ok((await log.append(topic, 0, numbered(1))).baseOffset >= end)
      t.same(valuesOf(await readAll(log, partition)), ['v0'])
    },
  },
  {
    name: 'retention by size keeps at least the newest bytes',
    needs: ['clean'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { retentionBytes: 50_000 })
      const partition = { topic, partition: 0 }
      for (let i = 0; i < 20; i++) await log.append(topic, 0, [record(`${i}`, 'x'.repeat(10_000))])
      const { end } = await log.offsets(partition)
      await harness.clean(log)
      const offsets = await log.offsets(partition)
      t.equal(offsets.end, end)
      const kept = (await readAll(log, partition)).map(({ key }) => key?.toString())
      t.ok(kept.length >= 4 && kept.length <= 6, `${kept.length} records of 10,000 bytes are kept`)
      t.equal(kept.at(-1), '19')
    },
  },
  {
    name: 'without retention nothing is deleted',
    needs: ['clean', 'passTime'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log)
      await log.append(topic, 0, numbered(3))
      await harness.passTime(40 * 24 * 60 * minuteMs)
      await harness.clean(log)
      t.equal((await readAll(log, { topic, partition: 0 })).length, 3)
    },
  },
  {
    name: 'compaction keeps the last value of each key with its offset and stamp',
    needs: ['clean'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { cleanup: 'compact' })
      const partition = { topic, partition: 0 }
      await put(log, topic, 'a=1', 'b=1', 'a=2', 'c=1', 'b=2', 'a=3', '__proto__=1', '__proto__=2', 'end=1')
      const before = await readAll(log, partition)
      const offsets = await log.offsets(partition)
      await harness.clean(log)
      const after = await readAll(log, partition)
      t.same(entriesOf(after), ['c=1', 'b=2', 'a=3', '__proto__=2', 'end=1'])
      for (const left of after)
        t.same(
          left,
          before.find(({ offset }) => offset === left.offset),
        )
      t.same(await log.offsets(partition), offsets)
      await put(log, topic, 'c=2', 'end=2')
      await harness.clean(log)
      t.same(entriesOf(await readAll(log, partition)), ['b=2', 'a=3', '__proto__=2', 'c=2', 'end=2'])
    },
  },
  {
    name: 'compaction keeps a tombstone for the delete retention, then takes it',
    needs: ['clean', 'passTime', 'deleteRetentionMs'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { cleanup: 'compact' })
      const partition = { topic, partition: 0 }
      await put(log, topic, 'a=1', 'b=1', 'a', 'end=1')
      await harness.clean(log)
      t.same(entriesOf(await readAll(log, partition)), ['b=1', 'a', 'end=1'])
      await harness.passTime(harness.deleteRetentionMs + minuteMs)
      await harness.clean(log)
      t.same(entriesOf(await readAll(log, partition)), ['b=1', 'end=1'])
    },
  },
  {
    name: 'a reader in an emptied stretch moves on',
    needs: ['clean', 'reopen'],
    async run(t, harness) {
      const log = await harness.open(t)
      const topic = await createTopic(log, { cleanup: 'compact' })
      const partition: TopicPartition = { topic, partition: 0 }
      await put(log, topic, 'first=1')
      for (let i = 0; i < 300; i++) await put(log, topic, `k=${i}`)
      await put(log, topic, 'last=1')
      await harness.clean(log)
      // Opened anew, so that nothing comes from memory.
      const reopened = await harness.reopen(t, log)
      const { end } = await reopened.offsets(partition)
      for (const from of [1, 2, 150, 299]) {
        const entries: string[] = []
        for (let next = from; next < end;) {
          const batch = await reopened.read(partition, next, { maxRecords: 1 })
          t.ok(batch.next > next)
          entries.push(...entriesOf(batch.records))
          next = batch.next
        }
        t.same(entries, ['k=299', 'last=1'], `from offset ${from}`)
      }
      const listener = new RecordingListener({
        onAssigned: () => Promise.resolve([{ ...partition, offset: 5 }]),
      })
      await join(t, reopened, listener, { topics: [topic], maxRecords: 1 })
      await listener.until((seen) => seen.records().length === 2)
      t.same(entriesOf(listener.records()), ['k=299', 'last=1'])
    },
  },
]
