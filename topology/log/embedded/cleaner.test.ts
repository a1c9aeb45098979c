import t from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import type { ManualClock } from '../../../common/manual-clock.js'
import { StoreError } from '../../../state-stores/errors.js'
import type { KeyRange, KeyValueStore } from '../../../state-stores/key-value-store.js'
import { memoryProvider } from '../../../state-stores/memory/provider.js'
import { createTopic, numbered, readAll, record, valuesOf } from '../contract/harness.js'
import type { EmbeddedLog, EmbeddedLogOptions } from './embedded-log.js'
import { openEmbeddedLog } from './embedded-log.js'

const minuteMs = 60_000
const batchRows: KeyRange = { gte: Buffer.from('b'), lt: Buffer.from('c') }

interface Opened {
  readonly log: EmbeddedLog
  readonly store: KeyValueStore
  readonly clock: ManualClock
  readonly errors: Error[]
  /** Batches in the store. */
  readonly rows: () => Promise<number>
}

async function openLog(settings: Partial<EmbeddedLogOptions & { store: KeyValueStore }> = {}): Promise<Opened> {
  const clock = manualClock()
  const store = settings.store ?? (await memoryProvider().open('log'))
  const errors: Error[] = []
  let topics = 0
  const log = await openEmbeddedLog({
    clock,
    newIncarnation: () => `${++topics}`,
    onCleanError: (error) => errors.push(error),
    ...settings,
    store,
  })
  return {
    log,
    store,
    clock,
    errors,
    async rows() {
      let count = 0
      for await (const page of store.entries(batchRows)) count += page.length
      return count
    },
  }
}

t.test('retention runs by a timer, and ends with the log', async (t) => {
  const { log, clock, rows } = await openLog({ cleanIntervalMs: minuteMs })
  const topic = await createTopic(log, { retentionMs: 10 * minuteMs })
  for (let i = 0; i < 3; i++) await log.append(topic, 0, numbered(1))
  await clock.advance(9 * minuteMs)
  t.equal(await rows(), 3)
  await clock.advance(2 * minuteMs)
  t.equal(await rows(), 0)
  t.same(await log.offsets({ topic, partition: 0 }), { start: 3, end: 3 })
  await log.append(topic, 0, numbered(1))
  await log.close()
  await clock.advance(60 * minuteMs)
  t.equal(await rows(), 1)
})

t.test('a wrong clock of a producer deletes nothing early and keeps nothing for long', async (t) => {
  const { log, clock } = await openLog()
  const topic = await createTopic(log, { retentionMs: 10 * minuteMs, timestampType: 'CreateTime' })
  for (const stamp of [0, -1, clock.now() + 1e9]) await log.append(topic, 0, [record(null, `${stamp}`, stamp)])
  await log.clean()
  t.equal((await readAll(log, { topic, partition: 0 })).length, 3)
  await clock.advance(11 * minuteMs)
  await log.clean()
  t.equal((await readAll(log, { topic, partition: 0 })).length, 0)
  await log.close()
})

t.test('a changed retention of an existing topic holds from then on', async (t) => {
  const { log, clock } = await openLog()
  const topic = await createTopic(log)
  const incarnation = (await log.topic(topic))?.incarnation
  await log.append(topic, 0, numbered(1))
  await clock.advance(11 * minuteMs)
  await createTopic(log, { name: topic, retentionMs: 10 * minuteMs })
  await log.clean()
  t.same(await log.offsets({ topic, partition: 0 }), { start: 1, end: 1 })
  t.equal((await log.topic(topic))?.incarnation, incarnation)
  await log.close()
})

t.test('an error of the background cleaning is told, and the next turn cleans', async (t) => {
  const inner = await memoryProvider().open('log')
  let fails = true
  const store: KeyValueStore = {
    ...inner,
    clear: (range) => (fails ? Promise.reject(new StoreError('STORE_WRITE_FAILED', 'no')) : inner.clear(range)),
  }
  const { log, clock, errors, rows } = await openLog({ store, cleanIntervalMs: minuteMs })
  const topic = await createTopic(log, { retentionMs: 1 })
  await log.append(topic, 0, numbered(2))
  await clock.advance(minuteMs)
  t.match(errors, [{ code: 'LOG_UNAVAILABLE' }])
  t.same(await log.offsets({ topic, partition: 0 }), { start: 2, end: 2 }, 'the start moved before the batches went')
  t.equal(await rows(), 1)
  t.same(await readAll(log, { topic, partition: 0 }), [])
  fails = false
  await clock.advance(minuteMs)
  t.equal(await rows(), 0, 'what was left is gone')
  t.equal(errors.length, 1)
  await log.close()
})

t.test('compaction by the timer waits until it is worthwhile', async (t) => {
  const { log, clock } = await openLog({ cleanIntervalMs: minuteMs })
  const topic = await createTopic(log, { cleanup: 'compact' })
  const same = (count: number): Promise<unknown> =>
    log.append(
      topic,
      0,
      Array.from({ length: count }, () => record('k', 'v')),
    )
  await same(6_000)
  await clock.advance(minuteMs)
  t.equal((await readAll(log, { topic, partition: 0 })).length, 6_000)
  await same(6_000)
  await clock.advance(minuteMs)
  t.ok((await readAll(log, { topic, partition: 0 })).length <= 1_000, 'the last batch alone is left')
  await log.close()
})

t.test('compaction joins what is left of small batches, and keeps records without key', async (t) => {
  const { log, rows } = await openLog()
  const topic = await createTopic(log, { cleanup: 'compact' })
  for (let i = 0; i < 500; i++) await log.append(topic, 0, [record(`${i % 10}`, `${i}`)])
  await log.append(topic, 0, [record(null, 'no key'), record(null, 'no key')])
  await log.append(topic, 0, [record('last', '')])
  await log.clean()
  t.equal(await rows(), 2)
  const values = valuesOf(await readAll(log, { topic, partition: 0 }))
  t.same(values, [...numbered(10, '49').map(({ value }) => value?.toString()), 'no key', 'no key', ''])
  await log.close()
})

t.test('a log closes without waiting for the compaction of everything', async (t) => {
  const { log, store } = await openLog({ compactionKeys: 10 })
  const topic = await createTopic(log, { cleanup: 'compact', partitions: 2 })
  const records = Array.from({ length: 3_000 }, (_, i) => record(`${i % 1_500}`, `${i}`))
  for (const partition of [0, 1]) await log.append(topic, partition, records)
  const cleaning = log.clean()
  await Promise.resolve()
  await log.close()
  await cleaning
  const reopened = (await openLog({ store })).log
  t.equal((await readAll(reopened, { topic, partition: 1 })).length, 3_000, 'the second partition was left as it was')
  await reopened.clean()
  t.equal((await readAll(reopened, { topic, partition: 1 })).length, 1_500)
  await reopened.close()
})
