import t from 'tap'
import { StoreError } from '../state-stores/errors.js'
import { countingProcessor } from './counting-processor.js'
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
