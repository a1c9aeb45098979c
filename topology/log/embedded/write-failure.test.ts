import t from 'tap'
import { manualClock } from '../../../common/manual-clock.js'
import { StoreError } from '../../../state-stores/errors.js'
import type { KeyValueStore, StoreProvider, WriteOperation } from '../../../state-stores/key-value-store.js'
import { memoryProvider } from '../../../state-stores/memory/provider.js'
import { createTopic, numbered, readAll, RecordingListener, valuesOf } from '../contract/harness.js'
import type { EmbeddedLogOptions } from './embedded-log.js'
import { openEmbeddedLog, openEmbeddedLogAt } from './embedded-log.js'

function options(): EmbeddedLogOptions {
  let topics = 0
  return {
    clock: manualClock(),
    newIncarnation: () => `${++topics}`,
    onCleanError: (error) => t.fail(error.message),
  }
}

const noSpace = new StoreError('STORE_WRITE_FAILED', 'no space left on device')

/** A store whose writes a test looks at, and can let fail, before they took effect or after. */
async function failingStore(): Promise<{
  readonly store: KeyValueStore
  readonly writes: (readonly WriteOperation[])[]
  fails: 'never' | 'before' | 'after'
}> {
  const inner = await memoryProvider().open('log')
  const control = {
    writes: [] as (readonly WriteOperation[])[],
    fails: 'never' as 'never' | 'before' | 'after',
    store: {
      ...inner,
      async write(operations: readonly WriteOperation[], how?: { readonly sync?: boolean }) {
        control.writes.push(operations)
        if (control.fails !== 'before') await inner.write(operations, how)
        if (control.fails !== 'never') throw noSpace
      },
    },
  }
  return control
}

t.test('all appends of one tick are one write, also those of several partitions', async (t) => {
  const control = await failingStore()
  const log = await openEmbeddedLog({ ...options(), store: control.store })
  const topic = await createTopic(log, { partitions: 4 })
  control.writes.length = 0
  await Promise.all(Array.from({ length: 40 }, (_, i) => log.append(topic, i % 4, numbered(3))))
  t.same(
    control.writes.map((operations) => operations.length),
    [40],
  )
  await log.close()
})

t.test('appends that come while a write is under way share the next', async (t) => {
  const control = await failingStore()
  const log = await openEmbeddedLog({ ...options(), store: control.store })
  const topic = await createTopic(log)
  control.writes.length = 0
  const first = log.append(topic, 0, numbered(1))
  while (control.writes.length === 0) await Promise.resolve()
  const others = [1, 2, 3].map(() => log.append(topic, 0, numbered(1)))
  await Promise.all([first, ...others])
  t.same(
    control.writes.map((operations) => operations.length),
    [1, 3],
  )
  await log.close()
})

for (const fails of ['before', 'after'] as const) {
  t.test(`RS-11 a write that fails ${fails} it took effect rejects its appends, and a later one works`, async (t) => {
    const control = await failingStore()
    const log = await openEmbeddedLog({ ...options(), store: control.store })
    const topic = await createTopic(log)
    const partition = { topic, partition: 0 }
    const listener = new RecordingListener()
    await log.join({ group: 'g', topics: [topic], listener })
    await log.append(topic, 0, numbered(2, 'kept'))
    control.fails = fails
    // Two rounds, so that the rejected batches begin at different offsets and overlap each other.
    for (const counts of [
      [5, 3, 7],
      [2, 9],
    ]) {
      const rejected = counts.map((count) =>
        t.rejects(log.append(topic, 0, numbered(count, 'rejected')), { code: 'LOG_UNAVAILABLE', retryable: true }),
      )
      await Promise.all(rejected)
      t.same(await log.offsets(partition), { start: 0, end: 2 })
    }
    control.fails = 'never'
    t.equal((await log.append(topic, 0, numbered(1, 'later'))).baseOffset, 2)
    t.equal((await log.append(topic, 0, numbered(6, 'last'))).baseOffset, 3)
    const expected = ['kept0', 'kept1', 'later0', ...numbered(6, 'last').map(({ value }) => value?.toString())]
    t.same(valuesOf(await readAll(log, partition)), expected)
    await listener.until((seen) => seen.records().length === expected.length)
    t.same(listener.values(), expected)
    await log.close()
    const reopened = await openEmbeddedLog({ ...options(), cacheBytes: 0, store: control.store })
    t.same(await reopened.offsets(partition), { start: 0, end: 9 })
    t.same(valuesOf(await readAll(reopened, partition)), expected, 'nothing of the rejected is left on disk')
    await reopened.close()
  })
}

t.test('a failed write of a writer, a position or a topic changes nothing', async (t) => {
  const control = await failingStore()
  const log = await openEmbeddedLog({ ...options(), store: control.store })
  const topic = await createTopic(log, { partitions: 2 })
  const listener = new RecordingListener()
  const member = await log.join({ group: 'g', topics: [topic], listener })
  await listener.until((seen) => seen.partitions('assigned').length === 2)
  const writer = await log.writer('w')
  const parts = [0, 1].map((partition) => ({ topic, partition, records: numbered(1) }))
  control.fails = 'before'
  await t.rejects(writer.append(parts), { code: 'LOG_UNAVAILABLE' })
  await t.rejects(member.commit({ topic, partition: 0 }, { offset: 1, metadata: '' }), { code: 'LOG_UNAVAILABLE' })
  await t.rejects(createTopic(log, { name: 'other' }), { code: 'LOG_UNAVAILABLE' })
  control.fails = 'never'
  t.equal(await member.committed({ topic, partition: 0 }), undefined)
  t.equal(await log.topic('other'), undefined)
  t.same(
    (await writer.append(parts)).map(({ baseOffset }) => baseOffset),
    [0, 0],
  )
  await createTopic(log, { name: 'other' })
  await log.close()
})

t.test('RS-11 a store that refuses all writes after a failed one is opened anew', async (t) => {
  const stores = memoryProvider()
  const log = await openEmbeddedLogAt(stores, 'log', options())
  const topic = await createTopic(log)
  await log.append(topic, 0, numbered(1, 'before'))
  stores.failWrites('log')
  await t.rejects(log.append(topic, 0, numbered(1, 'full')), { code: 'LOG_UNAVAILABLE' })
  t.same(valuesOf(await readAll(log, { topic, partition: 0 })), ['before0'], 'reads go on')
  await log.append(topic, 0, numbered(1, 'after'))
  await log.close()
  const reopened = await openEmbeddedLogAt(stores, 'log', options())
  t.same(valuesOf(await readAll(reopened, { topic, partition: 0 })), ['before0', 'after0'])
  await reopened.close()
})

t.test('RS-11 while the store cannot even be opened, appends are rejected, and work when it can', async (t) => {
  const inner = memoryProvider()
  let full = false
  const stores: StoreProvider = {
    open: (name) => (full ? Promise.reject(noSpace) : inner.open(name)),
    setAside: (name, reason) => inner.setAside(name, reason),
  }
  const log = await openEmbeddedLogAt(stores, 'log', options())
  const topic = await createTopic(log)
  full = true
  inner.failWrites('log')
  for (let i = 0; i < 3; i++) await t.rejects(log.append(topic, 0, numbered(1)), { code: 'LOG_UNAVAILABLE' })
  full = false
  t.equal((await log.append(topic, 0, numbered(1))).baseOffset, 0)
  await log.close()
  await t.resolves(inner.open('log'), 'the store was closed with the log')
})

t.test('more than the bound of waiting bytes is refused at once, and the rest is kept', async (t) => {
  const log = await openEmbeddedLogAt(memoryProvider(), 'log', { ...options(), maxWaitingBytes: 10_000 })
  const topic = await createTopic(log)
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => log.append(topic, 0, [{ key: null, value: Buffer.alloc(1_000, i) }])),
  )
  const kept = results.filter(({ status }) => status === 'fulfilled').length
  t.equal(kept, 9)
  t.match(results[9], { reason: { code: 'LOG_UNAVAILABLE', retryable: true } })
  t.equal((await readAll(log, { topic, partition: 0 })).length, kept)
  await log.append(topic, 0, numbered(1))
  await log.close()
})

t.test('what was called before close is still written', async (t) => {
  const stores = memoryProvider()
  const log = await openEmbeddedLogAt(stores, 'log', options())
  const topic = await createTopic(log)
  const appends = [1, 2, 3].map(() => log.append(topic, 0, numbered(1)))
  await log.close()
  t.equal((await Promise.all(appends)).length, 3)
  const reopened = await openEmbeddedLogAt(stores, 'log', options())
  t.same(await reopened.offsets({ topic, partition: 0 }), { start: 0, end: 3 })
  await reopened.close()
})

t.test('damage in the store is told as damage', async (t) => {
  const stores = memoryProvider()
  const log = await openEmbeddedLogAt(stores, 'log', { ...options(), cacheBytes: 0 })
  const topic = await createTopic(log)
  await log.append(topic, 0, numbered(1))
  stores.failReads('log')
  await t.rejects(log.read({ topic, partition: 0 }, 0), { code: 'LOG_DAMAGED' })
  await log.close()
  stores.corrupt('log')
  await t.rejects(openEmbeddedLogAt(stores, 'log', options()), { code: 'LOG_DAMAGED' })
})

t.test('a log that is open already is in use', async (t) => {
  const stores = memoryProvider()
  const log = await openEmbeddedLogAt(stores, 'log', options())
  await t.rejects(openEmbeddedLogAt(stores, 'log', options()), { code: 'LOG_DIRECTORY_IN_USE' })
  await log.close()
})
