import t from 'tap'
import { check, opened, pipeAll, slowChangelog } from './cluster-kit.js'
import { CHANGELOG, inputRecord } from './counting-run.js'
import { logOf } from './test-cluster.js'

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
