import t from 'tap'
import { names } from '../names.js'
import { JOURNAL } from '../system/counting-run.js'
import { newestSealBy, sealsOf } from './seals.js'
import { stateAt } from './state-at.js'
import type { StateAt } from './state-at.js'
import { auditedDriver } from './test-audit.js'

const subject = { kind: 'subject', subject: 'a' } as const
const counts = ({ wasTrue, weAnswered }: StateAt): unknown => {
  const countOf = (state: { result: unknown } | undefined): unknown =>
    (state?.result as { state: { count: number } | null }).state?.count ?? null
  return [wasTrue === null ? null : countOf(wasTrue[0]), countOf(weAnswered[0])]
}

t.test('what was true at a moment counts events that came later, and what we answered does not', async (t) => {
  const { driver, audit, send } = await auditedDriver(t)
  await send('a')
  await driver.advance(5000)
  const moment = driver.clock.now()
  await driver.advance(5000)
  const lateOwnTime = moment - 1000
  const futureOwnTime = moment + 1000
  await send(`a:at${lateOwnTime}`, `a:at${futureOwnTime}`)
  await driver.advance(5000)
  const at = { kind: 'time', time: moment } as const
  t.same(counts(await stateAt(audit, { question: subject, at })), [2, 1])
  t.same(counts(await stateAt(audit, { question: subject, at: { kind: 'end' } })), [null, 3])
})

t.test('a timer that was due after the moment did not fire then, however late it was read', async (t) => {
  const { driver, audit, send } = await auditedDriver(t)
  await send('a:timer')
  const armedAt = driver.clock.now()
  await driver.advance(5000)
  const woken = async (time: number): Promise<unknown> => {
    const { wasTrue } = await stateAt(audit, { question: subject, at: { kind: 'time', time } })
    return (wasTrue?.[0]?.result as { state: { woken: number } }).state.woken
  }
  t.equal(await woken(armedAt + 999), 0)
  t.equal(await woken(armedAt + 1000), 1, 'due then, though its record is stamped later')
})

t.test('what we answered at a time is as of the newest seal by then; at a position it is exact', async (t) => {
  const { driver, audit, send } = await auditedDriver(t)
  for (let i = 0; i < 40; i++) {
    await send('a')
    await driver.advance(1500)
  }
  const digests = { topic: names.digests('test', 'counts'), partition: 0 }
  const seals = []
  for await (const seal of sealsOf(driver.log, digests)) seals.push(seal)
  t.ok(seals.length > 30)
  for (const seal of [seals[0]!, seals[1]!, seals[20]!, seals.at(-1)!]) {
    t.same(await newestSealBy(driver.log, digests, seal.sealedAt), seal)
    const { weAnswered } = await stateAt(audit, { question: subject, at: { kind: 'time', time: seal.sealedAt } })
    t.match(weAnswered[0], { offset: seal.offset, seal })
  }
  t.equal(await newestSealBy(driver.log, digests, seals[0]!.sealedAt - 1), undefined)
  const records = (await driver.read(JOURNAL)).filter(({ offset }) => offset > 0)
  const positions = [{ topic: JOURNAL, partition: 0, offset: records[9]!.offset }]
  t.same(counts(await stateAt(audit, { question: subject, at: { kind: 'positions', positions } })), [null, 10])
})

t.test('a query of the domain and the whole store can be asked as of a moment, of every partition', async (t) => {
  const { driver, audit, send } = await auditedDriver(t, { partitions: 2 })
  await send('a', 'b', 'c')
  await driver.advance(2000)
  const at = { kind: 'end' } as const
  const asked = await stateAt(audit, { question: { kind: 'query', name: 'count', args: 'a' }, at })
  t.same(asked.weAnswered.map(({ result }) => result).sort(), [0, 1])
  const { weAnswered } = await stateAt(audit, { question: { kind: 'all' }, at })
  const rows = weAnswered.flatMap(({ result }) => result as { table: string; key: string }[])
  t.same(
    rows
      .filter(({ table }) => table === 'counts')
      .map(({ key }) => key)
      .sort(),
    ['a', 'b', 'c'],
  )
  const unknown = stateAt(audit, { question: { kind: 'query', name: 'x', args: null }, at })
  await t.rejects(unknown, { code: 'AUDIT_QUERY_UNKNOWN' })
})
