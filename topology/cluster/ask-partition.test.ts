import t from 'tap'
import { countingProcessor } from '../counting-processor.js'
import type { Demand } from '../streams.js'
import { askPartition } from './ask-partition.js'
import { fakeCluster, fakeInstance, holders, JOURNAL, live, standby } from './test-instances.js'
import type { FakeCluster, FakeInstance, Says } from './test-instances.js'

const ask = (cluster: FakeCluster, demand: Demand = {}) =>
  askPartition(cluster, { domain: 'counting', query: countingProcessor.queries[0]!, partition: 1, args: 'a', demand })

const restoring: Says = 'restoring'

interface Case {
  readonly name: string
  readonly self?: Says
  readonly a?: Says
  readonly b?: Says
  readonly holders: ReturnType<typeof holders>
  readonly demand?: Demand
  /** The role of the answer, or the reason why there is none. */
  readonly is: string
  /** Who was asked over HTTP, in order. */
  readonly asked: string
}

const cases: readonly Case[] = [
  { name: 'a live task here answers', self: live, holders: holders('self', 'a'), is: 'active', asked: '' },
  { name: 'it does when the directory names another', self: live, holders: holders('a'), is: 'active', asked: '' },
  { name: 'the owner answers in one hop', a: live, holders: holders('a', 'b'), is: 'active', asked: 'a' },
  { name: 'and not the standby that is here', self: standby, a: live, holders: holders('a'), is: 'active', asked: 'a' },
  {
    name: 'while the owner restores, a standby answers',
    ...{ a: restoring, b: standby, holders: holders('a', 'b'), is: 'standby', asked: 'a b' },
  },
  {
    name: 'the standby that is here needs no hop',
    ...{ self: standby, a: restoring, holders: holders('a', 'self', 'b'), is: 'standby', asked: 'a' },
  },
  {
    name: 'without an owner the standbys answer, in their order',
    ...{ a: 'tooStale', b: standby, holders: holders(undefined, 'a', 'b'), is: 'standby', asked: 'a b' },
  },
  {
    name: 'no standby answers whom only an owner satisfies',
    ...{
      a: restoring,
      b: standby,
      holders: holders('a', 'b'),
      demand: { role: 'active' },
      is: 'restoring',
      asked: 'a',
    },
  },
  { name: 'nobody has it', holders: holders(undefined), is: 'notOwned', asked: '' },
  { name: 'an owner that is none any more refuses', a: 'notOwned', holders: holders('a'), is: 'notOwned', asked: 'a' },
  {
    name: 'what the owner says counts more than that a standby is none',
    ...{ a: restoring, b: 'notOwned', holders: holders('a', 'b'), is: 'restoring', asked: 'a b' },
  },
  { name: 'this instance restores, alone', self: restoring, holders: holders('self'), is: 'restoring', asked: '' },
  {
    name: 'a position not reached in time by the owner is not asked of a standby',
    ...{ a: 'notUpToPosition', b: standby, holders: holders('a', 'b'), is: 'notUpToPosition', asked: 'a' },
  },
  { name: 'an instance that tells no address is not asked', holders: holders(''), is: 'notOwned', asked: '' },
]

t.test('whom a question goes to, and whose answer counts', async (t) => {
  for (const { name, self, a, b, demand, is, asked, ...given } of cases) {
    const order: string[] = []
    const others = { a: fakeInstance(a), b: fakeInstance(b) }
    for (const [url, instance] of Object.entries(others)) {
      Object.assign(instance, { calls: { push: () => order.push(url) } })
    }
    const cluster = fakeCluster(fakeInstance(self), others)
    cluster.holders = given.holders
    const answer = await ask(cluster, demand)
    t.equal(answer.ok ? answer.role : answer.reason, is, name)
    t.equal(order.join(' '), asked, `${name}: asked`)
    if (answer.ok) t.match(answer, { result: 'a', position: { topic: JOURNAL, partition: 1, offset: 7 } }, name)
  }
})

/** The owner a, with the standby b. */
function ownerAndStandby(): { a: FakeInstance; b: FakeInstance; cluster: FakeCluster } {
  const [a, b] = [fakeInstance(live), fakeInstance(standby)]
  const cluster = fakeCluster(fakeInstance(), { a, b })
  cluster.holders = holders('a', 'b')
  return { a, b, cluster }
}

t.test('the owner gets what is demanded of this partition, and the token it takes', async (t) => {
  const { a, cluster } = ownerAndStandby()
  const at = (partition: number, offset: number, topic = JOURNAL) => ({ topic, partition, offset })
  const minPositions = [at(1, 5), at(0, 90), at(1, 6), at(1, 99, 'another')]
  await ask(cluster, { minPositions, maxStalenessMs: 30, role: 'active' })
  t.match(a.calls, [{ token: 'token of a', path: '/internal/queries' }])
  t.same(JSON.parse(a.calls[0]!.body), {
    ...{ domain: 'counting', query: 'count', partition: 1, args: 'a' },
    ...{ minOffset: 6, maxStalenessMs: 30, activeOnly: true },
  })
})

t.test('a partition that moved while it was asked is found at its new owner', async (t) => {
  const { a, b, cluster } = ownerAndStandby()
  Object.defineProperty(a, 'says', {
    get(): Says {
      cluster.holders = holders('b')
      return 'notOwned'
    },
  })
  b.says = live
  t.match(await ask(cluster), { ok: true, role: 'active' })
})

for (const fault of ['unreachable', 'brokenOff', 'refuses'] as const) {
  t.test(`an owner that is ${fault}: the standby answers, and is asked first for a second`, async (t) => {
    const { a, cluster } = ownerAndStandby()
    a.fault = fault
    t.match(await ask(cluster), { ok: true, role: 'standby', stalenessMs: 700 })
    const calls = a.calls.length
    t.equal(calls, fault === 'brokenOff' ? 2 : 1, 'what breaks off is tried once more')
    t.match(await ask(cluster), { ok: true, role: 'standby' })
    t.equal(a.calls.length, calls, 'not asked again')
    a.fault = null
    await cluster.clock.advance(1000)
    t.match(await ask(cluster), { ok: true, role: 'active' })
    t.equal(cluster.errors.length, 1, 'told once')
    t.match(cluster.results, [/^query PEER_/, 'query answered', 'query answered', 'query answered'])
  })
}

t.test('the copy that is here answers when the directory knows nobody, unless the owner is demanded', async (t) => {
  const cluster = fakeCluster(fakeInstance(standby), {})
  cluster.holders = holders(undefined)
  t.match(await ask(cluster), { ok: true, role: 'standby', stalenessMs: 700 })
  t.match(await ask(cluster, { role: 'active' }), { ok: false, reason: 'notOwned' })
})

t.test('an owner that hangs costs a bounded time, and then none', async (t) => {
  const { a, b, cluster } = ownerAndStandby()
  a.fault = 'hangs'
  const first = ask(cluster)
  await cluster.clock.advance(2500)
  t.match(await first, { ok: true, role: 'standby' })
  t.match(await ask(cluster), { ok: true, role: 'standby' }, 'at once')
  b.fault = 'hangs'
  await cluster.clock.advance(5000)
  const started = cluster.clock.monotonic()
  const none = ask(cluster).then((answer) => ({ answer, tookMs: cluster.clock.monotonic() - started }))
  await cluster.clock.advance(10_000)
  const { answer, tookMs } = await none
  t.match(answer, { ok: false, reason: 'notOwned', retryAfterMs: 1000 })
  t.ok(tookMs <= 4000, `${tookMs} ms`)
})

t.test('an instance that runs another version refuses with a reason, and counts as not there', async (t) => {
  const { a, b, cluster } = ownerAndStandby()
  a.fault = b.fault = 'refuses'
  t.match(await ask(cluster), { ok: false, reason: 'notOwned' })
  t.match(cluster.errors, [{ code: 'PEER_REFUSED', message: /a refuses with 409: "protocol 2 is spoken"/ }, {}])
})

t.test('a caller who has gone is asked for no more', async (t) => {
  const { a, cluster } = ownerAndStandby()
  const gone = new AbortController()
  gone.abort(new Error('gone'))
  await t.rejects(ask(cluster, { signal: () => gone.signal }), { message: 'gone' })
  t.equal(a.calls.length, 0)
})
