import t from 'tap'
import { countingProcessor } from '../counting-processor.js'
import type { Query } from '../processor.js'
import type { Demand } from '../streams.js'
import { askPartition } from './ask-partition.js'
import { fakeCluster, fakeInstance, holders, JOURNAL, live, standby } from './test-instances.js'
import type { FakeCluster } from './test-instances.js'

const lookUp: Query = { ...countingProcessor.queries[0]!, isLookUp: true }

const ask = (cluster: FakeCluster, args: string, demand: Demand = {}) =>
  askPartition(cluster, { domain: 'counting', query: lookUp, partition: 1, args, demand })

t.test('look-ups of one moment share a call, each with its own answer', async (t) => {
  const a = fakeInstance(live)
  const cluster = fakeCluster(fakeInstance(), { a })
  cluster.holders = holders('a')
  const keys = Array.from({ length: 250 }, (_, i) => `key-${i}`)
  const answers = await Promise.all(keys.map((key) => ask(cluster, key)))
  t.same(
    answers.map((answer) => answer.ok && answer.result),
    keys,
  )
  t.same(
    a.calls.map(({ path, body }) => [path, (JSON.parse(body) as unknown[]).length]),
    [100, 100, 50].map((size) => ['/internal/look-ups', size]),
  )
  await ask(cluster, 'later')
  t.equal(a.calls.length, 4)
})

t.test('what waits for a position goes alone', async (t) => {
  const a = fakeInstance(live)
  const cluster = fakeCluster(fakeInstance(), { a })
  cluster.holders = holders('a')
  await ask(cluster, 'key', { minPositions: [{ topic: JOURNAL, partition: 1, offset: 3 }] })
  t.match(a.calls, [{ path: '/internal/queries' }])
})

t.test('what is refused or lost together is asked of the standby', async (t) => {
  for (const fault of ['refuses', 'unreachable', 'hangs', null] as const) {
    const [a, b] = [fakeInstance('notOwned'), fakeInstance(standby)]
    a.fault = fault
    const cluster = fakeCluster(fakeInstance(), { a, b })
    cluster.holders = holders('a', 'b')
    const asked = Promise.all(['x', 'y'].map((key) => ask(cluster, key)))
    for (let passed = 0; passed < 3000; passed += 100) await cluster.clock.advance(100)
    t.match(await asked, [
      { ok: true, role: 'standby', result: 'x' },
      { ok: true, role: 'standby', result: 'y' },
    ])
    t.equal(cluster.errors.length, fault === null ? 0 : 1, `${fault}: told once`)
  }
})
