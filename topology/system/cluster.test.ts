import t from 'tap'
import type { Test } from 'tap'
import { countingProcessor } from '../counting-processor.js'
import { sleep } from '../../common/clock.js'
import { StoreError } from '../../state-stores/errors.js'
import type { Log, TopicPartition } from '../log/log.js'
import { partitionOf } from '../partitioner.js'
import type { Demand, QueryResult } from '../streams.js'
import { parseMarker } from '../task/changelog.js'
import { CHANGELOG_MARKER } from '../task/table-runtime.js'
import { CHANGELOG, inputRecord, JOURNAL, modelsOf } from './counting-run.js'
import { logOf, TestCluster } from './test-cluster.js'
import type { TestInstance } from './test-cluster.js'

const count = countingProcessor.queries[0]!
const keys = Array.from({ length: 40 }, (_, i) => `key-${i}`)

async function opened(t: Test, options: { partitions?: number; standbyReplicas?: number } = {}): Promise<TestCluster> {
  const cluster = new TestCluster({ processors: [countingProcessor], ...options })
  await cluster.open()
  t.teardown(() => cluster.close())
  return cluster
}

/** Every key once, over all input partitions. */
async function pipeAll(cluster: TestCluster, mode = ''): Promise<void> {
  for (let partition = 0; partition < cluster.partitions; partition++) {
    const own = keys.filter((_, i) => i % cluster.partitions === partition)
    await cluster.pipe(
      'count-me',
      own.map((key) => inputRecord(mode === '' ? key : `${key}:${mode}`)),
      partition,
    )
  }
}

/** Owners hold what the journals say; standbys hold what their owners hold, to the row. */
async function check(t: Test, cluster: TestCluster, instances: readonly TestInstance[]): Promise<void> {
  await cluster.advance(2000)
  const models = await modelsOf(cluster)
  t.same(await cluster.digests(), Object.fromEntries(models.map(({ digest }, i) => [`counting/${i}`, digest])))
  await cluster.advance(1000)
  for (const standby of instances.flatMap(({ application }) => application.standbys)) {
    const owner = cluster.owners().find(({ partition }) => partition === standby.partition)
    t.same(
      await TestCluster.rowsOf(standby.rows.store),
      await TestCluster.rowsOf(owner!.rows.store),
      `standby of ${standby.partition}`,
    )
    t.equal(standby.digest.rows.toHex(), models[standby.partition]?.digest)
  }
}

t.test('a second instance catches up first, then gets its share; each stands by for the other', async (t) => {
  const cluster = await opened(t)
  const a = await cluster.start('a')
  await pipeAll(cluster)
  await cluster.advance(1000)
  const b = await cluster.start('b')
  const read = b.restored()
  await cluster.advance(1000)
  t.same(cluster.holdings(), ['a: 0,1; 2,3', 'b: 2,3; 0,1'])
  t.equal(b.restored(), read, 'what came over was not restored again')
  for (const partition of [0, 1, 2, 3]) {
    const { owner, standbys } = a.application.directory.holders('counting', partition)
    t.same(
      [owner?.url, standbys.map(({ url }) => url)],
      partition < 2 ? ['http://a', ['http://b']] : ['http://b', ['http://a']],
    )
  }
  await pipeAll(cluster)
  await check(t, cluster, [a, b])
  t.same([...a.errors, ...b.errors, ...a.setAside, ...b.setAside], [])
})

t.test('an instance that leaves in good order hands its tasks over without a restore', async (t) => {
  const cluster = await opened(t)
  const [a, b] = [await cluster.start('a'), await cluster.start('b')]
  await pipeAll(cluster)
  await cluster.advance(2000)
  t.same(cluster.holdings(), ['a: 0,1; 2,3', 'b: 2,3; 0,1'])
  const read = b.restored()
  // What is not in the changelog yet goes there before the partitions go.
  await pipeAll(cluster)
  await a.stop()
  t.same(cluster.holdings(), ['b: 0,1,2,3; '], 'at once, without waiting for anything')
  t.equal(b.restored(), read)
  await pipeAll(cluster)
  await check(t, cluster, [b])
  const again = await cluster.start('a')
  await cluster.advance(1000)
  t.same(cluster.holdings(), ['b: 0,1; 2,3', 'a: 2,3; 0,1'])
  t.equal(again.restored(), 0, 'its stores of before were brought on')
  await check(t, cluster, [again, b])
  t.same([...a.setAside, ...b.setAside, ...again.setAside], [])
})

t.test(
  'an instance is killed: its standby goes on from where the changelog stands; it comes back as standby',
  async (t) => {
    const cluster = await opened(t)
    const [a, b] = [await cluster.start('a'), await cluster.start('b')]
    await pipeAll(cluster)
    await cluster.advance(2000)
    const read = b.restored()
    await pipeAll(cluster, 'timer')
    await cluster.advance(150)
    await a.kill()
    t.same(cluster.holdings(), ['b: 0,1,2,3; '])
    t.equal(b.restored(), read, 'no restore')
    await pipeAll(cluster)
    await check(t, cluster, [b])
    const again = await cluster.start('a')
    await cluster.advance(7000)
    t.same(cluster.holdings(), ['b: 0,1; 2,3', 'a: 2,3; 0,1'])
    await check(t, cluster, [again, b])
  },
)

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
  const answer = await b.application.queryLocal('counting', count, 0, 'key-0', {}, 'standby')
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
    const ask = (role: 'active' | 'standby') => b.application.queryLocal('counting', count, 0, 'key-0', {}, role)
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
  const answer = await a.application.queryLocal('counting', count, 1, of1, {}, 'standby')
  t.match(answer, { ok: true, role: 'standby' }, 'it knows how old it is')
  t.ok(a.application.standbys[0]!.stalenessMs >= 1000)
})

t.test('rows that a killed owner alone had written, and the next one never: its store is rebuilt', async (t) => {
  const cluster = await opened(t, { partitions: 1 })
  const a = await cluster.start('a')
  const b = await cluster.start('b')
  await cluster.advance(1500)
  t.same(cluster.holdings(), ['a: 0; ', 'b: ; 0'])
  // The changelog is written, and again in half a second.
  await cluster.pipe('count-me', inputRecord('y'))
  await cluster.advance(150)
  // Committed, but not in the changelog; deleted, but not committed.
  await cluster.pipe('count-me', inputRecord('x'))
  await cluster.advance(150)
  await cluster.pipe('count-me', inputRecord('x:delete'))
  await a.kill()
  t.same(cluster.holdings(), ['b: 0; '])
  await check(t, cluster, [b])
  const again = await cluster.start('a')
  await cluster.advance(1500)
  t.match(again.setAside, [/does not give its state/])
  await check(t, cluster, [again, b])
})

t.test('what a new owner folds again to what it was before is in the changelog as it is', async (t) => {
  const cluster = await opened(t, { partitions: 1, standbyReplicas: 0 })
  const a = await cluster.start('a')
  await cluster.advance(1000)
  await a.stop()
  const b = await cluster.start('b')
  // Written, and in the changelog by now.
  await cluster.pipe('count-me', inputRecord('x'))
  await cluster.advance(900)
  await b.kill()
  // Its store is of before: the row comes and goes in one commit.
  await cluster.pipe('count-me', inputRecord('x:delete'))
  const again = await cluster.start('a')
  await check(t, cluster, [again])
  await again.stop()
  cluster.wipe('a')
  const restored = await cluster.start('a')
  await check(t, cluster, [restored])
  t.ok(restored.restored() > 0)
  t.same(restored.setAside, [], 'the changelog gives what its marker sealed')
})

t.test('a standby answers as far as it is, says so, and writes nothing to any log', async (t) => {
  const cluster = await opened(t, { partitions: 1 })
  await cluster.start('a')
  await pipeAll(cluster)
  const b = await cluster.start('b')
  await cluster.advance(1000)
  t.same(cluster.holdings(), ['a: 0; ', 'b: ; 0'])
  const ask = (demand: Demand = {}, role: 'active' | 'standby' = 'standby'): Promise<QueryResult<unknown>> =>
    b.application.queryLocal('counting', count, 0, 'key-0', demand, role)
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

t.test(
  'RB-02 a second instance joins while a batch is folded: it stops in between, and nothing is lost or doubled',
  async (t) => {
    const cluster = await opened(t, { partitions: 2 })
    const a = await cluster.start('a')
    const records = Array.from({ length: 2000 }, (_, i) => inputRecord(`key-${i % 97}`))
    let isSlow = true
    cluster.wrapStore = (_instance, _name, store) => ({
      ...store,
      getMany: async (wanted) => {
        if (isSlow) await sleep(cluster.clock, 20)
        return store.getMany(wanted)
      },
    })
    for (const partition of [0, 1]) await cluster.log.append('count-me', partition, records)
    const b = await cluster.start('b')
    await cluster.advance(3000, 100)
    isSlow = false
    await cluster.advance(5000, 250)
    t.same(cluster.holdings(), ['a: 0; 1', 'b: 1; 0'])
    await check(t, cluster, [a, b])
    const models = await modelsOf(cluster)
    const counted = models.flatMap(({ counts }) => [...counts.values()]).reduce((sum, row) => sum + row.count, 0)
    t.equal(counted, 2 * records.length)
    const epochs = (await cluster.read(CHANGELOG)).flatMap(({ partition, key, value }) =>
      partition === 1 && key?.toString() === CHANGELOG_MARKER ? [parseMarker(value!).epoch] : [],
    )
    t.same(
      epochs,
      [...epochs].sort((x, y) => x - y),
      'nothing of the former owner comes after the first of the new one',
    )
    t.ok(new Set(epochs).size > 1)
  },
)

t.test('a former owner that was paused does not answer as owner, commits nothing, and is fenced', async (t) => {
  const cluster = await opened(t, { partitions: 2 })
  const [a, b] = [await cluster.start('a'), await cluster.start('b')]
  await pipeAll(cluster)
  await cluster.advance(2000)
  t.same(cluster.holdings(), ['a: 0; 1', 'b: 1; 0'])
  await pipeAll(cluster)
  a.process.pause()
  await cluster.advance(1000)
  await a.process.forget()
  await cluster.advance(1000)
  t.same(cluster.holdings()[1], 'b: 0,1; ')
  await pipeAll(cluster)
  const changelog = async (): Promise<number> => (await cluster.log.offsets({ topic: CHANGELOG, partition: 0 })).end
  await cluster.advance(1000)
  const end = await changelog()
  // What woke up first: a query, before the group was heard.
  const asked = a.application.queryLocal('counting', count, 0, 'key-0', {}, 'active')
  a.process.resume()
  t.match(await asked, { ok: false })
  await cluster.settle()
  t.equal(await changelog(), end, 'its commit did not get through')
  await cluster.advance(8000)
  t.same(cluster.holdings(), ['a: 1; 0', 'b: 0; 1'])
  await check(t, cluster, [a, b])
})

t.test('a standby of an owner that is behind tells how old it is, and has the rows 7 s later at most', async (t) => {
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
    application.queryLocal('counting', count, 0, key, {}, application === a.application ? 'active' : 'standby')
  t.match(await ask(b, 'first'), { ok: true, result: 1, role: 'standby' })

  await cluster.pipe('count-me', inputRecord('second'))
  isSlow = true
  await cluster.pipe(
    'count-me',
    Array.from({ length: 4000 }, (_, i) => inputRecord(`key-${String(i).padStart(12, '0')}`)),
  )
  t.match(await ask(a, 'second'), { ok: true, result: 1, role: 'active' }, 'the owner has folded it')
  let lackedMs = 0
  for (let ms = 0; ms <= 7000; ms += 250) {
    const answer = await ask(b, 'second')
    if (!answer.ok) throw new Error(answer.message)
    if (answer.result === 0) {
      lackedMs = ms
      t.ok(answer.stalenessMs >= ms, `${answer.stalenessMs} of ${ms} ms`)
    }
    await cluster.advance(250)
  }
  t.ok(lackedMs >= 3000, `the changelog gives way: ${lackedMs} ms`)
  t.ok(lackedMs < 7000, `and comes: ${lackedMs} ms`)
  t.equal(a.application.tasks[0]?.state, 'LIVE', 'the owner is still behind')
  stuck.abort()
  await check(t, cluster, [a, b])
})

t.test('RB-04 a restore that takes long: one assignment, one restore, and input only afterwards', async (t) => {
  const cluster = await opened(t, { partitions: 2 })
  const a = await cluster.start('a')
  await pipeAll(cluster)
  await cluster.advance(1000)
  await a.stop()
  cluster.wipe('a')
  const stop = new AbortController()
  cluster.wrapLog = (_name, log) => ({
    ...logOf(log),
    read: async (at, offset, options) => {
      if (at.topic === CHANGELOG && !stop.signal.aborted)
        await new Promise((resolve) => stop.signal.addEventListener('abort', resolve))
      return log.read(at, offset, options)
    },
  })
  const again = await cluster.start('a')
  await cluster.advance(60_000, 5000)
  t.match(again.application.readiness(), { ready: false })
  t.same(again.states, ['counting/0 RESTORING', 'counting/1 RESTORING'])
  await cluster.log.append('count-me', 0, [inputRecord('late')])
  stop.abort()
  await cluster.advance(1000)
  t.match(again.application.readiness(), { ready: true })
  t.equal(again.states.filter((state) => state.endsWith('RESTORING')).length, 2)
  await check(t, cluster, [again])
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

t.test('standbys of three instances: every task has one elsewhere, and none when that is not wanted', async (t) => {
  const cluster = await opened(t, { partitions: 6 })
  const instances = [await cluster.start('a'), await cluster.start('b'), await cluster.start('c')]
  await pipeAll(cluster)
  await cluster.advance(3000)
  t.same(
    instances.map(({ application: { tasks, standbys } }) => [tasks.length, standbys.length]),
    [
      [2, 2],
      [2, 2],
      [2, 2],
    ],
  )
  await check(t, cluster, instances)
  const without = await opened(t, { partitions: 6, standbyReplicas: 0 })
  const [a, b] = [await without.start('a'), await without.start('b')]
  await without.advance(3000)
  t.same(
    [a, b].map(({ application: { tasks, standbys } }) => [tasks.length, standbys.length]),
    [
      [3, 0],
      [3, 0],
    ],
  )
})

/** Reads of the changelog wait until they are let through, one at a time and a few records each. */
function slowChangelog(cluster: TestCluster): { next(): Promise<void>; all(): void } {
  let waiting: (() => void)[] = []
  let isOpen = false
  cluster.wrapLog = (_name, log) => ({
    ...logOf(log),
    read: async (at, offset, options) => {
      if (at.topic !== CHANGELOG || isOpen) return log.read(at, offset, options)
      await new Promise<void>((resolve) => waiting.push(resolve))
      return log.read(at, offset, { ...options, maxRecords: 10 })
    },
  })
  return {
    next: async () => {
      for (const go of waiting.splice(0)) go()
      await cluster.advance(500)
    },
    all: () => {
      isOpen = true
      for (const go of waiting) go()
      waiting = []
    },
  }
}

t.test(
  'RS-17 a restore tells how far it is: never negative, never falling, nothing left when it is ready',
  async (t) => {
    const cluster = await opened(t, { partitions: 2 })
    const a = await cluster.start('a')
    for (let round = 0; round < 3; round++) {
      await pipeAll(cluster)
      await cluster.advance(600)
    }
    await a.stop()
    cluster.wipe('a')
    const changelog = slowChangelog(cluster)
    const { application } = await cluster.start('a')
    const seen: { done: number; left: number; ready: boolean }[] = []
    let words = ''
    for (let turn = 0; turn < 100 && seen.at(-1)?.ready !== true; turn++) {
      const { ready, restoring, reasons } = application.readiness()
      const sum = (of: (status: (typeof restoring)[number]) => number): number =>
        restoring.reduce((all, status) => all + of(status), 0)
      seen.push({
        done: sum(({ doneRecords }) => doneRecords),
        left: sum(({ totalRecords, doneRecords }) => totalRecords - doneRecords),
        ready,
      })
      words ||= reasons.find((reason) => reason.includes(' s left')) ?? ''
      await changelog.next()
    }
    t.ok(seen.length > 5, `${seen.length} looks`)
    const restored = seen.filter(({ ready }) => !ready)
    for (const [i, { done, left }] of restored.entries()) {
      t.ok(done >= (restored[i - 1]?.done ?? 0) && left >= 0, `${done} done, ${left} left`)
    }
    t.same(seen.at(-1), { done: 0, left: 0, ready: true }, 'and then there is nothing to restore')
    t.match(
      words,
      /^task counting\/\d: restoring from the changelog, \d+ of \d+ records, \d+ a second, about \d+ s left$/,
    )
    changelog.all()
  },
)

t.test('an instance with standbys alone is ready when they have caught up, and stays so', async (t) => {
  const cluster = await opened(t, { partitions: 1 })
  await cluster.start('a')
  await pipeAll(cluster)
  await cluster.advance(1000)
  const changelog = slowChangelog(cluster)
  const b = await cluster.start('b')
  t.match(b.application.readiness(), {
    ready: false,
    reasons: ['1 of 1 standbys are not caught up yet'],
    restoring: [{ domain: 'counting', partition: 0, role: 'standby', phase: 'changelog' }],
  })
  changelog.all()
  await cluster.advance(1000)
  t.same(b.application.readiness(), { ready: true, reasons: [], restoring: [] })
  const { application } = b
  application.standbys[0]!.fail(new Error('a bug'))
  await cluster.advance(5000)
  t.match(application.readiness(), { ready: true })
})

t.test('RS-02 nothing was ever written: ready at once, and a key is not there', async (t) => {
  const cluster = await opened(t)
  const [a, b] = [await cluster.start('a'), await cluster.start('b')]
  await cluster.advance(1000)
  for (const { application } of [a, b]) t.match(application.readiness(), { ready: true })
  t.same(cluster.holdings(), ['a: 0,1; 2,3', 'b: 2,3; 0,1'])
  await cluster.advance(60_000, 5000)
  t.match(await b.application.queryLocal('counting', count, 3, 'key-0', {}, 'active'), { ok: true, result: 0 })
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
