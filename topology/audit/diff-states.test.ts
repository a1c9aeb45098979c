import t from 'tap'
import { diffStates } from './diff-states.js'
import { auditedDriver } from './test-audit.js'

const end = { kind: 'end' } as const

t.test('two points of a journal: the rows that changed between them, from what to what, why', async (t) => {
  const { driver, audit, send } = await auditedDriver(t)
  await send('a', 'b', 'gone')
  await driver.advance(1000)
  const until = { kind: 'time', time: driver.clock.now() } as const
  await driver.advance(1000)
  await send('a', 'new', 'gone:delete')
  const [diff] = await diffStates({ a: { audit, until }, b: { audit, until: end }, limit: 10 })
  t.match(diff, { domain: 'counting', hasMore: false })
  const counts = diff?.rows.filter(({ table }) => table === 'counts')
  t.match(counts, [
    { key: 'a', a: { count: 1 }, b: { count: 2 }, why: { rules: [{ rule: 'counted', compared: { before: 1 } }] } },
    { key: 'gone', a: { count: 1 }, b: undefined, why: { offset: diff!.b.offset - 1 } },
    { key: 'new', a: undefined, b: { count: 1 } },
  ])
  t.equal(counts?.length, 3)
  const [same] = await diffStates({ a: { audit, until: end }, b: { audit, until: end }, limit: 10 })
  t.equal(same?.a.digest, same?.b.digest)
  t.same(same?.rows, [])
})

t.test('two sites with the same history are alike but for positions', async (t) => {
  const one = await auditedDriver(t)
  const other = await auditedDriver(t)
  await one.send('a', 'b')
  await one.send('a')
  await other.send('a')
  await other.send('b', 'a')
  const sides = { a: { audit: one.audit, until: end }, b: { audit: other.audit, until: end }, limit: 10 }
  t.same((await diffStates({ ...sides, ignorePositions: true }))[0]?.rows, [])
  t.match((await diffStates(sides))[0]?.rows, [{ key: 'b', a: { lastOffset: 1 }, b: { lastOffset: 2 } }])
  await other.send('c')
  t.match((await diffStates({ ...sides, ignorePositions: true }))[0]?.rows, [
    { key: 'c', a: undefined },
    { key: 'all' },
  ])
})
