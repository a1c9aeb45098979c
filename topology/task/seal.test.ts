import t from 'tap'
import { countingProcessor } from '../counting-processor.js'
import { names } from '../names.js'
import { TopologyTestDriver } from '../test-driver.js'
import { parseSeal, sealRecord } from './seal.js'

t.test('a task seals what its changelog stands for: position, time, digests', async (t) => {
  const driver = new TopologyTestDriver({ processors: [countingProcessor], partitions: 1 })
  await driver.start()
  await driver.pipe('count-me', [{ key: null, value: Buffer.from('a') }])
  await driver.advance(3000)
  const task = driver.application.tasks[0]!
  const seals = (await driver.read(names.digests('test', 'counts'))).map(parseSeal)
  t.match(seals.at(-1), {
    offset: task.committedOffset,
    time: task.foldState.time,
    epoch: 1,
    foldVersion: 1,
    rows: task.digest.rows.toHex(),
    withoutPositions: task.digest.withoutPositions.toHex(),
  })
  await driver.stop()
})

t.test('there is one key for each second of the time that journals are kept', async (t) => {
  const digest = Buffer.alloc(2048)
  const key = (time: number): string | undefined => {
    const state = { time, epoch: 1, foldVersion: 1, foldedBy: 1, outputs: 0, settings: null }
    const commit = { ...state, offset: 1, incarnation: 'x', changelog: { incarnation: 'y', end: 0, offset: 0 } }
    return sealRecord(commit, digest, 60_000).key?.toString()
  }
  t.equal(key(1000), key(1999))
  t.not(key(1999), key(2000))
  t.equal(key(1000), key(61_000), 'what is a retention older is replaced')
})
