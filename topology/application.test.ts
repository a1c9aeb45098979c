import t from 'tap'
import { counts, countingProcessor } from './counting-processor.js'
import { TopologyTestDriver } from './test-driver.js'
import { queryReader } from './task/query-reader.js'

const record = (value: string): { key: null; value: Buffer } => ({ key: null, value: Buffer.from(value) })

async function countOf(driver: TopologyTestDriver, key: string): Promise<number | undefined> {
  for (const task of driver.application.tasks) {
    const row = await queryReader(task).get(counts, key)
    if (row !== undefined) return row.count
  }
  return undefined
}

t.test('records of an input are counted by key, in whatever partition they came', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  t.match(driver.application.readiness(), { ready: true })
  await driver.pipe('count-me', [record('a'), record('b'), record('a')], 0)
  await driver.pipe('count-me', [record('a')], 1)
  t.equal(await countOf(driver, 'a'), 3)
  t.equal(await countOf(driver, 'b'), 1)
  const outputs = await driver.read('count-changes')
  t.equal(outputs.length, 4)
  t.equal(new Set(outputs.map((output) => output.headers.find(([name]) => name === 'ce_id')?.[1].toString())).size, 4)
  await driver.stop()
})
