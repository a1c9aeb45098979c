import t from 'tap'
import type { CommandResult } from '../streams.js'
import { commandPartition } from './command-partition.js'
import type { LocalCommandResult } from './instance-call.js'
import { fakeCluster, fakeInstance, holders, JOURNAL } from './test-instances.js'
import type { FakeCluster } from './test-instances.js'

const done: LocalCommandResult = { ok: true, answer: 41, position: { topic: JOURNAL, partition: 1, offset: 9 } }
const failure = (reason: Extract<LocalCommandResult, { ok: false }>['reason']): LocalCommandResult => ({
  ...{ ok: false, reason, message: reason, retryAfterMs: 1000 },
})

/** The result, once it is there: the clock is moved until then, a minute at most. */
async function give(cluster: FakeCluster, timeoutMs = 20_000): Promise<CommandResult<unknown> & { tookMs: number }> {
  const started = cluster.clock.monotonic()
  const event = { type: 'Counted', data: { key: 'a', mode: '' } }
  const options = { commandId: 'act-1', actor: 'ann', timeoutMs }
  let result: (CommandResult<unknown> & { tookMs: number }) | undefined
  void commandPartition(cluster, { domain: 'counting', partition: 1, event, options }).then((given) => {
    result = { ...given, tookMs: cluster.clock.monotonic() - started }
  })
  for (let passed = 0; passed < 60_000 && result === undefined; passed += 50) await cluster.clock.advance(50)
  return result!
}

t.test('a command is taken here, or given to the owner under its id', async (t) => {
  const a = fakeInstance('notOwned', done)
  const here = fakeCluster(fakeInstance('notOwned', done), { a })
  here.holders = holders('a')
  t.match(await give(here), { ok: true, answer: 41 })
  t.equal(a.calls.length, 0)
  const elsewhere = fakeCluster(fakeInstance(), { a })
  elsewhere.holders = holders('a')
  t.match(await give(elsewhere), { ok: true, answer: 41, position: { offset: 9 } })
  t.match(JSON.parse(a.calls[0]!.body), {
    partition: 1,
    options: { commandId: 'act-1', actor: 'ann', timeoutMs: 5000 },
  })
})

t.test('what the owner decides is final', async (t) => {
  for (const reason of ['failed', 'unavailable'] as const) {
    const a = fakeInstance('notOwned', failure(reason))
    const cluster = fakeCluster(fakeInstance(), { a })
    cluster.holders = holders('a')
    t.match(await give(cluster), { ok: false, reason })
    t.equal(a.calls.length, 1, reason)
  }
})

t.test('a partition on its way is waited for, five seconds at most', async (t) => {
  const a = fakeInstance('notOwned', done)
  const cluster = fakeCluster(fakeInstance(), { a })
  const given = give(cluster)
  cluster.clock.setTimer(() => (cluster.holders = holders('a')), 3000)
  t.match(await given, { ok: true, answer: 41 })
  cluster.holders = holders(undefined)
  const { tookMs, ...never } = await give(cluster)
  t.match(never, { ok: false, reason: 'unavailable' }, 'nobody has heard of it')
  t.ok(tookMs <= 5000, `${tookMs} ms`)
})

t.test('an owner that ends before it answers: the next one is given the same command', async (t) => {
  for (const lost of ['brokenOff', 'hangs', 'moved'] as const) {
    const [a, b] = [fakeInstance('notOwned', failure('moved')), fakeInstance('notOwned', done)]
    if (lost !== 'moved') a.fault = lost
    const cluster = fakeCluster(fakeInstance(), { a, b })
    cluster.holders = holders('a')
    const given = give(cluster)
    cluster.clock.setTimer(() => (cluster.holders = holders('b')), 8000)
    t.match(await given, { ok: true, answer: 41 }, lost)
    const ids = [...a.calls, ...b.calls].map(({ body }) => (JSON.parse(body) as { options: object }).options)
    t.ok(
      ids.every((options) => 'commandId' in options && options.commandId === 'act-1'),
      lost,
    )
  }
})

t.test('heard and never answered: the outcome is open; never heard: it is not done', async (t) => {
  const a = fakeInstance('notOwned', done)
  const cluster = fakeCluster(fakeInstance(), { a })
  cluster.holders = holders('a')
  a.fault = 'brokenOff'
  const open = await give(cluster, 7000)
  t.match(open, { ok: false, reason: 'outcomeOpen', message: /Idempotency-Key act-1/ })
  t.ok(open.tookMs <= 7000, `${open.tookMs} ms`)
  a.fault = 'unreachable'
  t.match(await give(cluster, 7000), { ok: false, reason: 'unavailable' })
})
