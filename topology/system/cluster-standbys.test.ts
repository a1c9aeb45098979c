import t from 'tap'
import { sleep } from '../../common/clock.js'
import { StoreError } from '../../state-stores/errors.js'
import type { Log, TopicPartition } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { Demand, QueryResult } from '../streams.js'
import { countQuery } from '../counting-processor.js'
import { check, keys, opened, pipeAll } from './cluster-kit.js'
import { inputRecord, JOURNAL } from './counting-run.js'
import { logOf } from './test-cluster.js'
import type { TestInstance } from './test-cluster.js'

t.test('the task that takes a standby over answers as one at once, as old as that was', async (t) => {
  const cluster = await opened(t, { partitions: 1 })
  const a = await cluster.start('a')
  const b = await cluster.start('b')
  await pipeAll(cluster)
  await cluster.advance(2000)
  await pipeAll(cluster)
  let isHeld = false
  cluster.wrapStore = (_instance, _name, store) => ({
    ...store,
    getMany: async (wanted) => {
      if (isHeld && wanted.length > 5) await sleep(cluster.clock, 400)
      return store.getMany(wanted)
    },
  })
  await cluster.advance(100)
  await a.kill()
  await cluster.advance(100)
  isHeld = true
  await pipeAll(cluster)
  const [task] = b.application.tasks
  t.ok(task!.isRunning)
  const answer = await b.application.queryLocal('counting', countQuery, 0, 'key-0', {}, 'standby')
  t.match(answer, { ok: true, role: 'standby' })
  isHeld = false
  await check(t, cluster, [b])
})

t.test(
  'a standby that is promoted answers until its task opens the store, however long the fencing takes',
  async (t) => {
    const cluster = await opened(t, { partitions: 1 })
    let fence = (): void => undefined
    const fenced = new Promise<void>((resolve) => (fence = resolve))
    cluster.wrapLog = (instance, log) =>
      instance === 'a' ? log : { ...logOf(log), writer: (id) => fenced.then(() => log.writer(id)) }
    const [a, b] = [await cluster.start('a'), await cluster.start('b')]
    await pipeAll(cluster)
    await cluster.advance(2000)
    await a.kill()
    t.match([b.application.tasks[0]?.state, b.application.standbys[0]?.state], ['RESTORING', 'RUNNING'])
    const ask = (role: 'active' | 'standby') => b.application.queryLocal('counting', countQuery, 0, 'key-0', {}, role)
    t.match(await ask('standby'), { ok: true, role: 'standby' })
    t.match(await ask('active'), { ok: false, reason: 'restoring' })
    fence()
    await cluster.settle()
    t.match(await ask('active'), { ok: true, role: 'active' })
    t.same(b.application.standbys, [])
    await check(t, cluster, [b])
  },
)

t.test('a task that becomes a standby goes on answering, though it is never up to date again', async (t) => {
  const cluster = await opened(t, { partitions: 2 })
  let isAhead = false
  const endOf = async (log: Log, at: TopicPartition): Promise<{ readonly start: number; readonly end: number }> => {
    const { start, end } = await log.offsets(at)
    return { start, end: isAhead && at.topic === JOURNAL && at.partition === 1 ? end + 1000 : end }
  }
  cluster.wrapLog = (instance, log) => (instance === 'a' ? { ...logOf(log), offsets: (at) => endOf(log, at) } : log)
  const a = await cluster.start('a')
  await pipeAll(cluster)
  await cluster.advance(2000)
  isAhead = true
  await cluster.start('b')
  await cluster.advance(1000)
  t.same(cluster.holdings(), ['a: 0; 1', 'b: 1; 0'])
  const of1 = keys.find((key) => partitionOf(key, 2) === 1) ?? ''
  const answer = await a.application.queryLocal('counting', countQuery, 1, of1, {}, 'standby')
  t.match(answer, { ok: true, role: 'standby' }, 'it knows how old it is')
  t.ok(a.application.standbys[0]!.stalenessMs >= 1000)
})

t.test('a standby answers as far as it is, says so, and writes nothing to any log', async (t) => {
  const cluster = await opened(t, { partitions: 1 })
  await cluster.start('a')
  await pipeAll(cluster)
  const b = await cluster.start('b')
  await cluster.advance(1000)
  t.same(cluster.holdings(), ['a: 0; ', 'b: ; 0'])
  const ask = (demand: Demand = {}, role: 'active' | 'standby' = 'standby'): Promise<QueryResult<unknown>> =>
    b.application.queryLocal('counting', countQuery, 0, 'key-0', demand, role)
  t.match(await ask({}, 'active'), { ok: false, reason: 'notOwned' })
  t.match(await ask(), { ok: true, result: 1, role: 'standby', stalenessMs: 0 })
  await pipeAll(cluster)
  const { end } = await cluster.log.offsets({ topic: JOURNAL, partition: 0 })
  t.match(await ask(), { ok: true, result: 1, position: { offset: end - 2 } }, 'the owner has not told it yet')
  await cluster.advance(200)
  const behind = await ask()
  t.ok(behind.ok && behind.stalenessMs >= 200, 'and it knows')
  t.match(await ask({ maxStalenessMs: 100 }), { ok: false, reason: 'tooStale' })
  const minPositions = [{ topic: JOURNAL, partition: 0, offset: end - 1 }]
  const asked = ask({ minPositions })
  await cluster.advance(900)
  t.match(await asked, { ok: true, result: 2, position: { offset: end - 1 } }, 'a position is waited for')
  await cluster.advance(1000)
  const later = await ask({ maxStalenessMs: 250 })
  t.match(later, { ok: true, result: 2 })
  const ends = async (): Promise<number[]> => {
    const topics = (await cluster.log.topics()).map(({ name }) => name)
    return Promise.all(topics.map(async (topic) => (await cluster.log.offsets({ topic, partition: 0 })).end))
  }
  const before = await ends()
  await cluster.advance(5000)
  t.same(await ends(), before)
})

t.test('a standby of an owner that is behind tells how old it is, and has the rows 13 s later at most', async (t) => {
  const cluster = await opened(t, { partitions: 1 })
  const stuck = new AbortController()
  let isSlow = false
  cluster.wrapLog = (name, log) => ({
    ...logOf(log),
    append: async (topic, ...rest) => {
      if (isSlow && name === 'a' && topic === JOURNAL)
        await new Promise((resolve) => stuck.signal.addEventListener('abort', resolve))
      return log.append(topic, ...rest)
    },
  })
  const a = await cluster.start('a')
  const b = await cluster.start('b')
  await cluster.pipe('count-me', inputRecord('first'))
  await cluster.advance(1000)
  const ask = ({ application }: TestInstance, key: string): Promise<QueryResult<unknown>> =>
    application.queryLocal('counting', countQuery, 0, key, {}, application === a.application ? 'active' : 'standby')
  t.match(await ask(b, 'first'), { ok: true, result: 1, role: 'standby' })

  await cluster.pipe('count-me', inputRecord('second'))
  isSlow = true
  await cluster.pipe(
    'count-me',
    Array.from({ length: 4000 }, (_, i) => inputRecord(`key-${String(i).padStart(12, '0')}`)),
  )
  t.match(await ask(a, 'second'), { ok: true, result: 1, role: 'active' }, 'the owner has folded it')
  let lackedMs = 0
  for (let ms = 0; ms <= 13_000; ms += 250) {
    const answer = await ask(b, 'second')
    if (!answer.ok) throw new Error(answer.message)
    if (answer.result === 0) {
      lackedMs = ms
      t.ok(answer.stalenessMs >= ms, `${answer.stalenessMs} of ${ms} ms`)
    }
    await cluster.advance(250)
  }
  t.ok(lackedMs >= 9000, `the changelog gives way: ${lackedMs} ms`)
  t.ok(lackedMs < 13_000, `and comes: ${lackedMs} ms`)
  t.equal(a.application.tasks[0]?.state, 'LIVE', 'the owner is still behind')
  stuck.abort()
  await check(t, cluster, [a, b])
})

t.test('a standby whose store is damaged builds it anew; one that the changelog contradicts as well', async (t) => {
  const cluster = await opened(t, { partitions: 1 })
  await cluster.start('a')
  await pipeAll(cluster)
  let isDamaged = false
  cluster.wrapStore = (instance, _name, store) => ({
    ...store,
    getMany: (wanted) =>
      isDamaged && instance === 'b'
        ? Promise.reject(new StoreError('STORE_CORRUPT', 'checksum'))
        : store.getMany(wanted),
  })
  const b = await cluster.start('b')
  await cluster.advance(1000)
  isDamaged = true
  await pipeAll(cluster)
  await cluster.advance(1000)
  t.same(b.setAside, ['counting/0 checksum'])
  t.same(cluster.holdings(), ['a: 0; ', 'b: ; '])
  isDamaged = false
  await cluster.advance(6000)
  t.same(cluster.holdings(), ['a: 0; ', 'b: ; 0'])
  await check(t, cluster, [b])
  const [standby] = b.application.standbys
  await standby!.rows.store.write([{ key: Buffer.from('\u0014key-0'), value: null }])
  await pipeAll(cluster)
  await cluster.advance(7000)
  t.match(b.setAside[1], /sealed another/)
  await check(t, cluster, [b])
})

t.test('a standby whose store cannot be closed says so, and goes on with the next one', async (t) => {
  const cluster = await opened(t, { partitions: 1 })
  let faults = 0
  cluster.wrapStore = (instance, _name, store) =>
    Object.create(store, {
      write: {
        value: (...args: Parameters<typeof store.write>) =>
          instance === 'b' && faults > 0 ? Promise.reject(new Error('the disk is full')) : store.write(...args),
      },
      close: {
        value: async () => {
          await store.close()
          if (instance === 'b' && faults-- > 0) throw new Error('it cannot be closed')
        },
      },
    }) as typeof store
  await cluster.start('a')
  const b = await cluster.start('b')
  await cluster.advance(2000)
  faults = 1
  await pipeAll(cluster)
  await cluster.advance(3000)
  t.match(b.states.at(-1), 'FAILED')
  await cluster.advance(6000)
  t.match(b.states.at(-1), 'RUNNING')
  t.match(b.errors.join(), /the disk is full.*it cannot be closed/)
})
