import t from 'tap'
import { counts, countingProcessor } from '../counting-processor.js'
import { LogError } from '../log/errors.js'
import type { NewRecord } from '../log/log.js'
import { CHANGELOG, inputRecord, JOURNAL } from '../system/counting-run.js'
import { TopologyTestDriver } from '../test-driver.js'
import { queryReader } from './query-reader.js'

t.test('while its outputs are not taken a task folds only so much ahead, however few rows that changes', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: 1 })
  await driver.start()
  const [task] = driver.application.tasks
  const counted = async (): Promise<number> => (await queryReader(task!).get(counts, 'a'))?.count ?? 0
  const { log } = driver
  const append = log.append.bind(log)
  let isAway = true
  log.append = (topic, ...rest) =>
    isAway && topic === 'count-changes'
      ? Promise.reject(new LogError('LOG_UNAVAILABLE', 'its partition has no leader'))
      : append(topic, ...rest)
  const record = { key: null, value: Buffer.from('a') }
  for (let portion = 0; portion < 12; portion++) await driver.pipe('count-me', Array(10_000).fill(record))
  const ahead = await counted()
  t.ok(ahead >= 50_000 && ahead < 110_000, `${ahead} of 120,000`)
  isAway = false
  await driver.advance(1000)
  t.equal(await counted(), 120_000)
  t.equal(task!.state, 'LIVE')
  await driver.stop()
})

t.test('under a backlog a commit gives way for ten seconds, and no longer', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: 1 })
  await driver.start()
  const [task] = driver.application.tasks
  const { log } = driver
  const append = log.append.bind(log)
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  let isSlow = false
  log.append = async (...given) => {
    if (isSlow && given[0] === JOURNAL) await released
    return append(...given)
  }
  const records = (count: number): NewRecord[] =>
    Array.from({ length: count }, (_, i) => inputRecord(`key-${String(i).padStart(12, '0')}`))
  await driver.pipe('count-me', records(1))
  isSlow = true
  await driver.pipe('count-me', records(4000))
  const { offset } = task!
  const committed = (): boolean => task!.committedOffset === offset
  t.equal(committed(), false)
  const changelog = async (): Promise<number> => (await log.offsets({ topic: CHANGELOG, partition: 0 })).end
  const written = await changelog()
  await driver.advance(9950)
  t.equal(committed(), false, 'it gives way')
  await driver.advance(100)
  t.equal(committed(), true, 'though what was read still waits')
  t.ok((await changelog()) > written, 'and the changelog with it')
  t.equal(task!.offset, offset)
  release()
  await driver.advance(1000)
  t.equal(task!.committedOffset, task!.offset)
  t.ok(task!.offset > offset)
  await driver.stop()
})
