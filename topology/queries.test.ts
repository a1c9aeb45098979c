import t from 'tap'
import { StoreError } from '../state-stores/errors.js'
import { countingProcessor } from './counting-processor.js'
import { LogError } from './log/errors.js'
import type { Query } from './processor.js'
import type { Demand } from './streams.js'
import { answerQuery } from './queries.js'
import type { QueryEnvironment } from './queries.js'
import { inputRecord, JOURNAL } from './system/counting-run.js'
import { TopologyTestDriver } from './test-driver.js'
import { Turns } from './turns.js'
import type { TestDriverOptions } from './test-driver.js'

const count = countingProcessor.queries[0]!

async function started(options: Partial<TestDriverOptions> = {}): Promise<TopologyTestDriver> {
  const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: 2, ...options })
  await driver.start()
  await driver.pipe('count-me', ['a', 'b', 'a'].map(inputRecord))
  return driver
}

function environmentOf(driver: TopologyTestDriver): QueryEnvironment {
  const { log, clock } = driver
  const turns = new Turns(clock)
  return { log, clock, turns, journalTopic: JOURNAL, partition: 0, role: 'active', isCurrent: () => true }
}

/** The end of a partition's journal. */
const end = async (driver: TopologyTestDriver, partition: number): Promise<number> =>
  (await driver.log.offsets({ topic: JOURNAL, partition })).end

t.test('an answer says where it stands: position, role, staleness', async (t) => {
  const driver = await started()
  const { application } = driver
  const [first, second] = await application.queryAll('counting', count, 'a')
  t.match([first, second], [{ ok: true, role: 'active', stalenessMs: 0 }, { ok: true }])
  t.same([first, second].map((answer) => (answer?.ok === true ? answer.result : undefined)).sort(), [0, 2])
  for (const partition of [0, 1]) {
    t.match(await application.queryPartition('counting', count, partition, 'a'), {
      position: { topic: JOURNAL, partition, offset: (await end(driver, partition)) - 1 },
    })
  }
  await driver.stop()
})

t.test('queries keep what they like in memory, each partition for itself, until its task ends', async (t) => {
  const asked: Query<unknown, number> = {
    name: 'asked',
    run: ({ memory }) => Promise.resolve(++(memory as { times: number }).times),
  }
  const processor = { ...countingProcessor, memory: () => ({ times: 0 }) }
  const driver = await started({ processors: [processor] })
  const ask = (partition: number) => driver.application.queryPartition('counting', asked, partition, null)
  t.match(await ask(0), { result: 1 })
  t.match(await ask(0), { result: 2 })
  t.match(await ask(1), { result: 1 })
  await driver.stop()
  await driver.start()
  t.match(await ask(0), { result: 1 })
  await driver.stop()
})

t.test('journal time goes on without records, as the monotonic clock does', async (t) => {
  const time: Query<unknown, readonly [folded: number, now: number]> = {
    name: 'time',
    run: ({ time: folded, journalTime }) => Promise.resolve([folded, journalTime] as const),
  }
  const driver = await started()
  await driver.clock.advance(1234)
  driver.clock.stepWall(60_000)
  const answer = await driver.application.queryPartition('counting', time, 0, null)
  const [folded = 0, now] = answer.ok ? answer.result : []
  t.equal(now, folded + 1234)
  await driver.stop()
})

t.test('what is folded is seen at once, committed or not', async (t) => {
  const driver = await started()
  const before = driver.application.tasks.map((task) => task.committedOffset)
  t.match(await driver.application.query('counting', count, 'a', 'a'), { ok: true, result: 2 })
  t.same(
    driver.application.tasks.map((task) => task.committedOffset),
    before,
  )
  await driver.stop()
})

t.test('a demanded position is waited for, and only in its own partition', async (t) => {
  const driver = await started()
  const { application } = driver
  const next = await end(driver, 0)
  const demand = { minPositions: [{ topic: JOURNAL, partition: 0, offset: next }] }
  const asked = application.queryPartition('counting', count, 0, 'a', demand)
  t.match(await application.queryPartition('counting', count, 1, 'a', demand), { ok: true }, 'another partition')
  const elsewhere = { minPositions: [{ topic: 'other', partition: 0, offset: 2 ** 40 }] }
  t.match(await application.queryPartition('counting', count, 0, 'a', elsewhere), { ok: true }, 'another topic')
  // Whatever key falls in partition 0 brings the journal on.
  await driver.pipe('count-me', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(inputRecord))
  t.match(await asked, { ok: true, position: { offset: next } })
  await driver.stop()
})

t.test('a position that is not reached in time is said so, and the caller is forgotten', async (t) => {
  const driver = await started()
  const task = driver.application.tasks[0]!
  const far = { minPositions: [1, 2 ** 40].map((offset) => ({ topic: JOURNAL, partition: 0, offset })) }
  const asked = Array.from({ length: 50 }, () => driver.application.queryPartition('counting', count, 0, 'a', far))
  await driver.settle()
  t.equal(task.waiting, 50)
  await driver.clock.advance(999)
  t.equal(task.waiting, 50)
  await driver.clock.advance(1)
  for (const answer of await Promise.all(asked)) {
    t.match(answer, { ok: false, reason: 'notUpToPosition', message: /not yet at 1099511627776/, retryAfterMs: 1000 })
  }
  t.equal(task.waiting, 0)
  await driver.stop()
})

t.test('too stale is said when the task lags behind the journal longer than the caller allows', async (t) => {
  const driver = await started()
  const [task] = driver.application.tasks
  let lag = 0
  const log = {
    ...driver.log,
    offsets: async (partition: { topic: string; partition: number }) => {
      const offsets = await driver.log.offsets(partition)
      return { ...offsets, end: offsets.end + lag }
    },
  }
  const environment = { ...environmentOf(driver), log }
  const ask = (maxStalenessMs: number): Promise<unknown> =>
    answerQuery(environment, task, count, 'a', { maxStalenessMs })
  t.match(await ask(0), { ok: true, stalenessMs: 0 })
  lag = 1
  await driver.clock.advance(500)
  t.match(await ask(500), { ok: true, stalenessMs: 500 })
  t.match(await ask(499), { ok: false, reason: 'tooStale', message: /500 ms behind/ })
  lag = 0
  t.match(await ask(0), { ok: true, stalenessMs: 0 }, 'at the end again')
  await driver.stop()
})

t.test('a log that cannot say where it ends leaves the answer as stale as it was', async (t) => {
  const driver = await started()
  const unavailable = new LogError('LOG_UNAVAILABLE', 'no broker')
  const log = { ...driver.log, offsets: () => Promise.reject(unavailable) }
  const environment = { ...environmentOf(driver), log }
  await driver.clock.advance(700)
  const answer = await answerQuery(environment, driver.application.tasks[0], count, 'a', {})
  t.match(answer, { ok: true })
  t.ok(answer.ok && answer.stalenessMs >= 700)
  await driver.stop()
})

t.test('a partition that is not live answers why, never that there is nothing', async (t) => {
  const driver = await started()
  const { application } = driver
  const ask = (): Promise<unknown> => application.queryPartition('counting', count, 0, 'a')
  t.match(await application.queryPartition('counting', count, 7, 'a'), {
    ok: false,
    reason: 'notOwned',
    retryAfterMs: 1000,
  })
  application.tasks[0]!.fail(new Error('a bug'))
  t.match(await ask(), { ok: false, reason: 'storeFailed' })
  const stopping = driver.stop()
  t.match(await ask(), { ok: false, reason: 'stopping' })
  await stopping
  await driver.start({ untilLive: false })
  t.match(await driver.application.queryPartition('counting', count, 0, 'a'), { ok: false, reason: 'notOwned' })
  driver.crash()
  driver.wrapStore = (name, store) =>
    name === 'counting-0' ? { ...store, getMany: () => new Promise(() => undefined) } : store
  await driver.start()
  t.match(await driver.application.queryPartition('counting', count, 0, 'a'), { ok: false, reason: 'restoring' })
  driver.crash()
})

t.test('a task that ends while the query waits does not answer', async (t) => {
  const driver = await started()
  const task = driver.application.tasks[0]!
  const next = await end(driver, 0)
  const demand = { minPositions: [{ topic: JOURNAL, partition: 0, offset: next }] }
  const asked = driver.application.queryPartition('counting', count, 0, 'a', demand)
  await driver.settle()
  task.fail(new Error('a bug'))
  t.match(await asked, { ok: false })
  driver.crash()
})

t.test('errors of the store are reasons, all others are thrown', async (t) => {
  const driver = await started()
  const failing = (error: Error): Query => ({ name: 'failing', run: () => Promise.reject(error) })
  const ask = (error: Error): Promise<unknown> => driver.application.queryPartition('counting', failing(error), 0, {})
  t.match(await ask(new StoreError('STORE_CLOSED', 'closing')), { ok: false, reason: 'stopping' })
  t.match(await ask(new StoreError('STORE_UNAVAILABLE', 'no files')), { ok: false, reason: 'storeFailed' })
  await t.rejects(ask(new TypeError('a bug')), TypeError)
  t.equal(driver.application.tasks[0]?.state, 'LIVE')
  await driver.stop()
})

t.test(
  'an owner that the group has not heard of for a session does not answer as owner, before or after the query',
  async (t) => {
    const driver = await started()
    const task = driver.application.tasks[0]!
    let isCurrent = false
    const environment = { ...environmentOf(driver), isCurrent: () => isCurrent }
    const ask = (query: Query = count): Promise<unknown> => answerQuery(environment, task, query, 'a', {})
    t.match(await ask(), { ok: false, reason: 'notOwned', message: /may have another owner/ })
    t.match(await answerQuery({ ...environment, role: 'standby' }, task, count, 'a', {}), {
      ...{ ok: true, role: 'standby', stalenessMs: 0 },
    })
    isCurrent = true
    t.match(await ask(), { ok: true, role: 'active' })
    const pausing: Query = {
      name: 'pausing',
      run: async () => {
        isCurrent = false
        return Promise.resolve('old')
      },
    }
    t.match(await ask(pausing), { ok: false, reason: 'notOwned' })
    await driver.stop()
  },
)

t.test('asked as a standby, a task answers before it is live, and says how far behind it is', async (t) => {
  let isHeld = false
  const driver = await started({
    observer: { onTaskState: (_domain, partition, state) => (isHeld ||= partition === 0 && state === 'RUNNING') },
  })
  await driver.stop()
  isHeld = false
  driver.wrapStore = (name, store) => ({
    ...store,
    write: (operations, options) =>
      name === 'log' && isHeld ? new Promise(() => undefined) : store.write(operations, options),
  })
  await driver.start()
  const ask = (role: 'active' | 'standby', demand: Demand = {}): Promise<unknown> =>
    driver.application.queryLocal('counting', count, 0, 'a', demand, role)
  t.match(await ask('active'), { ok: false, reason: 'restoring' })
  t.match(await ask('standby'), { ok: true, role: 'standby', stalenessMs: 0 })
  driver.crash()
})

t.test('FO-09 a log that does not say where the journal ends holds no answer back', async (t) => {
  const driver = await started()
  const { log, clock } = driver
  const environment = { ...environmentOf(driver), log: { ...log, offsets: () => new Promise<never>(() => undefined) } }
  await driver.advance(2000)
  const answered = answerQuery(environment as QueryEnvironment, driver.application.tasks[0], count, 'b', {})
  await clock.advance(250)
  const answer = await answered
  t.match(answer, { ok: true })
  t.ok(answer.ok && answer.stalenessMs >= 2000, 'it is as stale as it was')
  await driver.stop()
})
