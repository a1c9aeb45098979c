import t from 'tap'
import { JOURNAL } from '../system/counting-run.js'
import { replayJournals } from './replay-journals.js'
import { auditedDriver } from './test-audit.js'

t.test(
  'OR-06 a replay comes to the digests of the live stores, partition by partition, and appends nothing',
  async (t) => {
    const { driver, audit, send } = await auditedDriver(t, { partitions: 3 })
    await send('a', 'b:send', 'c:timer', 'd:request', 'e:broadcast', 'f:survey', 'g:once', 'h:fail')
    await driver.advance(2000)
    const digests = await driver.digests()
    const ends = async (): Promise<unknown> => {
      const topics = await driver.log.topics()
      return Promise.all(
        topics.flatMap(({ name, partitions }) =>
          [...Array(partitions).keys()].map((partition) => driver.log.offsets({ topic: name, partition })),
        ),
      )
    }
    const before = await ends()
    const done: number[] = []
    const onProgress = (records: number, total: number): void => void done.push(records / total)
    const replayed = await replayJournals(audit, { until: { kind: 'end' }, onProgress })
    t.same(Object.fromEntries(replayed.map((one) => [`${one.domain}/${one.partition}`, one.digest])), digests)
    t.same(await ends(), before)
    t.equal(done.at(-1), 1)
  },
)

t.test('a replay stops where it is asked to: at an offset, a time, a position', async (t) => {
  const { driver, audit, send } = await auditedDriver(t)
  await send('a')
  await driver.advance(10_000)
  const time = driver.clock.now() - 5000
  await send('a')
  const records = await driver.read(JOURNAL)
  const second = records.at(-1)!
  const counts = async (until: Parameters<typeof replayJournals>[1]['until']): Promise<unknown> => {
    const [one] = await replayJournals(audit, { until, keys: ['a'] })
    return (one?.keys as { a?: { counts: { count: number } } }).a?.counts.count
  }
  t.equal(await counts({ kind: 'end' }), 2)
  t.equal(await counts({ kind: 'time', time }), 1)
  t.equal(await counts({ kind: 'offset', offset: second.offset }), 1)
  const positionOf = (offset: number): Parameters<typeof counts>[0] => {
    return { kind: 'positions', positions: [{ topic: JOURNAL, partition: 0, offset }] }
  }
  t.equal(await counts(positionOf(second.offset)), 2, 'the record at the position is folded')
  t.equal(await counts(positionOf(second.offset - 1)), 1)
})

t.test('what the journal lacks is told with its exact range, and what it holds that is no block', async (t) => {
  const { driver, audit, send } = await auditedDriver(t)
  await send('a', 'b')
  await send('a')
  await driver.log.append(JOURNAL, 0, [{ key: null, value: Buffer.from('foreign') }])
  await send('c')
  const { end } = await driver.log.offsets({ topic: JOURNAL, partition: 0 })
  await driver.log.deleteBefore({ topic: JOURNAL, partition: 0 }, 2)
  const [one] = await replayJournals(audit, { until: { kind: 'end' } })
  t.match(one, { offset: end, gaps: [{ topic: JOURNAL, partition: 0, from: 0, to: 2 }] })
  t.match(one?.unreadable, [/journal\/0\/\d+ is skipped/])
})
