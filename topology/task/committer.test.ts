import t from 'tap'
import { counts, countingProcessor } from '../counting-processor.js'
import { LogError } from '../log/errors.js'
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
