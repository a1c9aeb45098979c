import t from 'tap'
import { manualClock } from '../common/manual-clock.js'
import { StoreError } from '../state-stores/errors.js'
import { countingProcessor } from './counting-processor.js'
import { LogError } from './log/errors.js'
import type { Log, TransactionalWriter } from './log/log.js'
import { LogWrites } from './log-writes.js'
import { inputRecord } from './system/counting-run.js'
import { TopologyTestDriver } from './test-driver.js'

t.test(
  'a log that refuses every write: not ready while nothing has come through, though no task has to commit',
  async (t) => {
    const driver = new TopologyTestDriver({ processors: [countingProcessor] })
    let isFull = false
    driver.wrapStore = (name, store) => ({
      ...store,
      write: (operations, options) =>
        name === 'log' && isFull
          ? Promise.reject(new StoreError('STORE_WRITE_FAILED', 'no space left on device'))
          : store.write(operations, options),
    })
    await driver.start()
    const { application } = driver
    await driver.pipe('count-me', inputRecord('a'))
    await driver.advance(2000)
    t.match(application.readiness(), { ready: true, reasons: [] })
    const ingest = () =>
      application.ingest('counting', [
        { key: 'a', event: { type: 'Counted', data: { key: 'a', mode: '' } }, original: null },
      ])
    isFull = true
    const refused = t.rejects(ingest(), { code: 'LOG_UNAVAILABLE' })
    await driver.advance(10_000)
    await refused
    t.match(application.readiness(), { ready: false, reasons: [/^the log refuses what is written: .*no space left/] })
    isFull = false
    await driver.advance(1000)
    t.match(application.readiness(), { ready: true, reasons: [] }, 'what was refused last is tried until it is taken')
    await driver.stop()
  },
)

/** A log of which some places refuse. */
function refusing() {
  const clock = manualClock()
  const places = new Set<string>()
  const answer = <Result>(place: string, result: Result): Promise<Result> =>
    places.has(place)
      ? Promise.reject(new LogError('LOG_UNAVAILABLE', `no leader of ${place}`))
      : Promise.resolve(result)
  const writerOf = (id: string): TransactionalWriter => ({
    append: () => answer(id, []),
    close: () => Promise.resolve(),
  })
  const log = {
    append: (topic: string, partition: number) => answer(`${topic}/${partition}`, { baseOffset: 0, timestamp: 0 }),
    writer: (id: string) => answer(id, writerOf(id)),
  } as unknown as Log
  const writes = new LogWrites(clock)
  return { clock, places, writes, log: writes.watched(log) }
}

t.test('one partition that refuses is told, whatever others take meanwhile, until it takes again', async (t) => {
  const { places, writes, log } = refusing()
  places.add('journal/1')
  await t.rejects(log.append('journal', 1, []))
  for (const partition of [0, 2]) await log.append('journal', partition, [])
  const writer = await log.writer('task-1')
  await writer.append([])
  t.equal(writes.trouble, 'no leader of journal/1')
  places.add('task-1')
  await t.rejects(writer.append([]))
  places.delete('journal/1')
  await log.append('journal', 1, [])
  t.equal(writes.trouble, 'no leader of task-1')
  places.delete('task-1')
  await log.writer('task-1')
  t.equal(writes.trouble, '')
})

t.test('a place where nothing is written any more, as a task that moved, is forgotten', async (t) => {
  const { clock, places, writes, log } = refusing()
  places.add('task-1')
  await t.rejects(log.writer('task-1'))
  await clock.advance(40_000)
  await t.rejects(log.writer('task-1'))
  await clock.advance(40_000)
  t.equal(writes.trouble, 'no leader of task-1', 'it was still tried')
  await clock.advance(20_000)
  t.equal(writes.trouble, '')
})

t.test('a record that no log takes says nothing of the log', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  const { log } = driver.application
  await t.rejects(log.append('count-me', 0, [{ key: null, value: Buffer.alloc(2 ** 21) }]), {
    code: 'RECORD_TOO_LARGE',
  })
  t.equal(driver.application.readiness().ready, true)
  await driver.stop()
})
