import t from 'tap'
import { countingProcessor } from './counting-processor.js'
import { partitionOf } from './partitioner.js'
import type { Demand, QueryResult } from './streams.js'
import { TopologyTestDriver } from './test-driver.js'

const TOPIC = 'test-counting-journal'
const KEY = 'a'
const query = countingProcessor.queries.find(({ name }) => name === 'count')!

/** A driver whose stores can be made to give no rows for a while, so that nothing is folded: no row is cached. */
async function started() {
  const driver = new TopologyTestDriver({ processors: [countingProcessor], application: { stateCacheBytes: 0 } })
  let held: Promise<void> | undefined
  driver.wrapStore = (_name, store) =>
    new Proxy(store, {
      get(target, name) {
        const member = Reflect.get(target, name) as unknown
        if (typeof member !== 'function') return member
        const call = (...args: unknown[]): unknown => Reflect.apply(member, target, args)
        if (name !== 'get' && name !== 'getMany') return call
        return async (...args: unknown[]): Promise<unknown> => {
          await held
          return call(...args)
        }
      },
    })
  await driver.start()
  const partition = partitionOf(KEY, driver.partitions)
  return {
    driver,
    partition,
    ask: (demand: Demand): Promise<QueryResult<unknown>> =>
      driver.application.query('counting', query, KEY, KEY, demand),
    endOfJournal: async (): Promise<number> => (await driver.log.offsets({ topic: TOPIC, partition })).end,
    count: (commandId: string) => {
      const event = { type: 'Counted', data: { key: KEY, mode: '' } }
      return driver.application.command('counting', { key: KEY }, event, { commandId, timeoutMs: 300 })
    },
    hold: (): (() => void) => {
      let release = (): void => undefined
      held = new Promise((resolve) => (release = resolve))
      return release
    },
  }
}

t.test('a demanded position is waited for, a second at most', async (t) => {
  const { driver, partition, ask, endOfJournal } = await started()
  const next = { topic: TOPIC, partition, offset: await endOfJournal() }
  const waiting = ask({ minPositions: [next] })
  await driver.pipe('count-me', { key: null, value: Buffer.from(KEY) })
  t.match(await waiting, { ok: true, result: 1, position: next })

  const never = ask({ minPositions: [{ ...next, offset: next.offset + 1000 }] })
  await driver.advance(1000)
  t.match(await never, { ok: false, reason: 'notUpToPosition', retryAfterMs: 1000 })
  const other = { topic: 'another-journal', partition, offset: 1000 }
  t.match(await ask({ minPositions: [other] }), { ok: true }, 'another journal is none of its business')
  await driver.stop()
})

t.test('an answer staler than its caller allows is refused, and given again at the end of the journal', async (t) => {
  const { driver, ask, hold } = await started()
  t.match(await ask({ maxStalenessMs: 0 }), { ok: true, stalenessMs: 0 })
  const release = hold()
  await driver.pipe('count-me', { key: null, value: Buffer.from(KEY) })
  await driver.advance(500)
  t.match(await ask({ maxStalenessMs: 100 }), { ok: false, reason: 'tooStale' })
  release()
  await driver.settle()
  t.match(await ask({ maxStalenessMs: 100 }), { ok: true, result: 1, stalenessMs: 0 })
  await driver.stop()
})

t.test('a command without an answer in time is open; asked again by its id, it tells its first answer', async (t) => {
  const { driver, count, hold } = await started()
  const release = hold()
  const open = count('command-1')
  await driver.advance(300)
  t.match(await open, { ok: false, reason: 'outcomeOpen' })
  release()
  await driver.settle()
  for (const [commandId, expected] of [
    ['command-1', 1],
    ['command-1', 1],
    ['command-2', 2],
  ] as const) {
    const answered = count(commandId)
    await driver.settle()
    t.match(await answered, { ok: true, answer: { key: KEY, count: expected } }, commandId)
  }
  await driver.stop()
})
