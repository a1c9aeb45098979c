import t from 'tap'
import { counts, countingProcessor } from './counting-processor.js'
import type { InputRecord } from './processor.js'
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

t.test('ready again after a restart without new input', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  await driver.pipe('count-me', ['a', 'b', 'a'].map(record), 1)
  await driver.stop()
  await driver.start()
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  driver.crash()
  await driver.start()
  t.match(driver.application.readiness(), { ready: true, reasons: [] })
  await driver.stop()
})

t.test('not ready before inputs are read up to where they ended at the start', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor] })
  await driver.start()
  await driver.stop()
  await driver.start({ untilLive: false })
  await driver.log.append('count-me', 2, [record('a')])
  await driver.stop()
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  const input = countingProcessor.inputs[0]!
  const slow = { ...input, decode: (given: InputRecord) => held.then(() => input.decode(given)) }
  const again = new TopologyTestDriver({
    processors: [{ ...countingProcessor, inputs: [slow] }],
    stores: driver.stores,
  })
  await again.start()
  t.same(again.application.readiness(), {
    ready: false,
    reasons: ['input count-me/2 is not yet read up to offset 1, where it ended at the start'],
  })
  release()
  await again.settle()
  t.match(again.application.readiness(), { ready: true, reasons: [] })
  await again.stop()
})
