import t from 'tap'
import { sleep } from '../../common/clock.js'
import { parseMarker } from '../task/changelog.js'
import { CHANGELOG_MARKER } from '../task/table-runtime.js'
import { countQuery } from '../counting-processor.js'
import { check, opened, pipeAll } from './cluster-kit.js'
import { CHANGELOG, inputRecord, modelsOf } from './counting-run.js'

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
  const asked = a.application.queryLocal('counting', countQuery, 0, 'key-0', {}, 'active')
  a.process.resume()
  t.match(await asked, { ok: false })
  await cluster.settle()
  t.equal(await changelog(), end, 'its commit did not get through')
  await cluster.advance(8000)
  t.same(cluster.holdings(), ['a: 1; 0', 'b: 0; 1'])
  await check(t, cluster, [a, b])
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

t.test('RS-02 nothing was ever written: ready at once, and a key is not there', async (t) => {
  const cluster = await opened(t)
  const [a, b] = [await cluster.start('a'), await cluster.start('b')]
  await cluster.advance(1000)
  for (const { application } of [a, b]) t.match(application.readiness(), { ready: true })
  t.same(cluster.holdings(), ['a: 0,1; 2,3', 'b: 2,3; 0,1'])
  await cluster.advance(60_000, 5000)
  t.match(await b.application.queryLocal('counting', countQuery, 3, 'key-0', {}, 'active'), { ok: true, result: 0 })
})
